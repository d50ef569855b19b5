# Everything one does with this repository; `make help` lists it. Each target works on a fresh machine with make, bash
# and a python3: uv is installed here if there is none, and it installs what uv.lock names.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

UV := $(or $(shell command -v uv),.uv/bin/uv)
PYTHON := .venv/bin/python
SAM_VERSION := 1.170.0
SAM := .sam/bin/sam
CONTRACT := .contract
CHECKOV_VERSION := 3.3.30
CHECKOV := .checkov/bin/checkov --framework cloudformation --compact --quiet --skip-download
AUDIT_VERSION := 2.10.1
AUDIT := .audit/bin/pip-audit
export SAM_CLI_TELEMETRY := 0

# The machine the functions run on: Amazon Linux 2023 on arm64, glibc 2.34. It takes manylinux2014 wheels and newer ones
# up to 2_28, in which jsonschema-rs comes.
LAMBDA := --python-platform aarch64-manylinux_2_28 --python-version 3.13 --only-binary :all:

.PHONY: help
help:  ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: setup  ## run the adapter and an AWS on this machine, until Ctrl-C (PORT=8080, AWS_PORT=4566)
	@exec $(PYTHON) -m local

# Two files at a time, each by one process from its beginning to its end: its tests share what runs for them.
.PHONY: test
test: setup  ## run all tests; at least 95 % of adapter/, branches included, must be covered
	$(PYTHON) -m pytest -n 2 --dist loadfile --cov --cov-fail-under=95

# Status 75 when all that went wrong is that a registry did not answer: then something was not tested, and nothing failed.
.PHONY: test-emitters
test-emitters: setup  ## run every real emitter against the adapter (TESTS=tests/emitters/test_dbt.py)
	$(PYTHON) -m pytest $(or $(TESTS),tests/emitters) -v -p no:cacheprovider -p tests.emitters.outcome

.PHONY: mutants
mutants: setup  ## break each rule of the judging code and see a test notice (three minutes)
	$(PYTHON) -m tools.mutate

.PHONY: chaos
chaos: setup  ## lose nothing on the worst of days (N=30000 events, SEED=…, at most SECONDS=1200)
	@$(PYTHON) -m tests.chaos

.PHONY: alarms
alarms: setup  ## set each alarm off in a running system, by its fault and by no other (a minute)
	$(PYTHON) -m pytest tests/alarms

.PHONY: fuzz
fuzz: setup  ## fuzz each way in, for SECONDS=60 seconds
	$(UV) run --frozen --all-extras --group fuzz --quiet python -m tests.fuzz $(or $(SECONDS),60)

.PHONY: contract
contract: setup $(CONTRACT)/built  ## post generated requests, hold each answer to schemas/openapi.yaml (twice SECONDS=60)
	$(PYTHON) -m tests.contract $(or $(SECONDS),60) $(abspath $(CONTRACT))/bin/schemathesis

.PHONY: bench
bench: setup  ## measure speed, memory and size against the lines that are replaced (ONLY="http cold …"; a quiet machine)
	@$(PYTHON) -m benchmarks $(ONLY)

.PHONY: scale
scale: setup  ## simulate ten thousand to a billion events a day, and what each costs
	@$(PYTHON) -m benchmarks.scale

.PHONY: lint
lint: setup  ## check style and format
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

.PHONY: types
types: setup  ## check types
	.venv/bin/mypy

# An exception stands in template.yaml with its reason; these are for what SAM makes of it and has no place for one.
# CKV_AWS_73: no X-Ray at the private API; what became of an event is in its function's log, and a trace has no events
# CKV_AWS_120: no cache at the private API; every answer is about the event just posted
EXCEPTED := CKV_AWS_73,CKV_AWS_120
# What a parameter turns on: a variant with all of them is checked for these as well.
UNTIL_ASKED := CKV_AWS_27,CKV_AWS_115,CKV_AWS_117,CKV_AWS_149,CKV_AWS_158,CKV_AWS_173

.PHONY: validate
validate: export AWS_DEFAULT_REGION ?= us-east-1
validate: setup $(SAM)-$(SAM_VERSION) .checkov/bin/checkov-$(CHECKOV_VERSION)  ## check template.yaml, and each way to deploy it
	$(SAM) validate --lint
	rm -rf .build/variants
	$(PYTHON) -m tools.variants .build/variants
	.venv/bin/cfn-lint .build/variants/*.json
	$(CHECKOV) --file .build/variants/everything.json --skip-check $(EXCEPTED)
	$(CHECKOV) --directory .build/variants --skip-check $(EXCEPTED),$(UNTIL_ASKED)

# What is deployed, then what an operator installs: each with its hashes, as locked.
.PHONY: audit
audit: setup $(AUDIT)-$(AUDIT_VERSION)  ## ask for known vulnerabilities of what is locked
	mkdir -p .build
	$(UV) export --quiet --frozen --no-dev --extra cli --no-emit-project --output-file .build/cli.txt
	$(PYTHON) -m tools.audit $(AUDIT) requirements.txt .build/cli.txt

.PHONY: sbom
sbom: $(UV)  ## list what is deployed with its hashes, as CycloneDX (SBOM=.build/sbom.json)
	mkdir -p $(dir $(or $(SBOM),.build/sbom.json))
	$(UV) export --quiet --frozen --no-dev --no-emit-project --preview-features sbom-export --format cyclonedx1.5 \
	  --output-file $(or $(SBOM),.build/sbom.json)

.PHONY: build
build: setup sbom $(SAM)-$(SAM_VERSION)  ## build what is deployed into .aws-sam/build, without Docker
	$(SAM) build
	$(PYTHON) -m tools.sizes .aws-sam/build/*/

.PHONY: deploy
deploy: build  ## build, then create or update the stack (OPTIONS="…" for sam deploy)
	$(PYTHON) -m tools.deploy $(SAM) $(OPTIONS)

.PHONY: requirements
requirements: $(UV)  ## write requirements.txt, what the functions are built from, anew from uv.lock
	$(UV) export --quiet --frozen --no-dev --no-emit-project --no-header --output-file requirements.txt

.PHONY: clean
clean:  ## remove all that was installed and built here
	rm -rf .aws-sam .build .contract .emitters .venv .uv .sam .checkov .audit .mypy_cache .ruff_cache .pytest_cache .hypothesis .fuzz .coverage

# What sam build calls, once for each function, with ARTIFACTS_DIR.
build-%: setup
	$(UV) pip install --quiet --link-mode copy $(LAMBDA) --require-hashes --target "$(ARTIFACTS_DIR)" -r requirements.txt
	cp -r adapter schemas "$(ARTIFACTS_DIR)"
	$(PYTHON) -m tools.prune "$(ARTIFACTS_DIR)"

# uv looks for Python 3.13 on PATH and among pyenv's, and downloads one where that works.
.PHONY: setup
setup: $(UV)
	@$(UV) python find 3.13 > /dev/null 2>&1 || $(UV) python install 3.13 || { \
	  echo "Python 3.13 is needed: install it (apt install python3.13, brew install python@3.13, pyenv install 3.13," \
	       "or from python.org) and try again." >&2; exit 1; }
	$(UV) sync --frozen --all-extras --quiet

.uv/bin/uv:
	@command -v python3 > /dev/null || { \
	  echo "uv is needed, and there is no python3 to install it with: install either" \
	       "(https://docs.astral.sh/uv, or apt install python3 python3-venv)." >&2; exit 1; }
	@python3 -m venv .uv || { rm -rf .uv; \
	  echo "python3 cannot make a virtual environment: apt install python3-venv, or install uv itself." >&2; exit 1; }
	.uv/bin/pip install --quiet "uv>=0.9.11"

# sam pins an older boto3 than ours, so it has an environment of its own.
$(SAM)-$(SAM_VERSION): | $(UV)
	$(UV) venv --quiet --clear --python 3.13 .sam
	$(UV) pip install --quiet --python .sam/bin/python aws-sam-cli==$(SAM_VERSION)
	touch $@

# schemathesis pins an older jsonschema-rs than ours, so it has an environment of its own, too.
$(CONTRACT)/built: tests/contract/requirements.txt | $(UV)
	$(UV) venv --quiet --clear --python 3.13 $(CONTRACT)
	$(UV) pip install --quiet --require-hashes --python $(CONTRACT)/bin/python -r $<
	touch $@

# Each brings many libraries of its own.
.checkov/bin/checkov-$(CHECKOV_VERSION): | $(UV)
	$(UV) venv --quiet --clear --python 3.13 .checkov
	$(UV) pip install --quiet --python .checkov/bin/python checkov==$(CHECKOV_VERSION)
	touch $@

$(AUDIT)-$(AUDIT_VERSION): | $(UV)
	$(UV) venv --quiet --clear --python 3.13 .audit
	$(UV) pip install --quiet --python .audit/bin/python pip-audit==$(AUDIT_VERSION)
	touch $@
