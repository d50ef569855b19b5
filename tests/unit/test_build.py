"""What is uploaded: the locked libraries, cut to what the adapter uses, and still whole enough to run."""

from __future__ import annotations

import json
import marshal
import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

from tests.artefact import ENVIRONMENT, ROOT, assemble
from tools.prune import compile_all, prune
from tools.sizes import sizes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Packages = dict[str, dict[str, Any]]

# Run where nothing but the artefact can be imported, as in Lambda.
PROBE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from adapter import aws, settings
from adapter.handlers import http, kinesis
print(aws.datazone(settings.read(os.environ), aws.Patience(1, 1)).meta.endpoint_url)
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""

# Each is 30 ms and more of a cold start, in the artefact, and one import away.
DEAR = (
    "asyncio",
    "aws_lambda_powertools.event_handler",
    "aws_lambda_powertools.utilities.batch",
    "aws_lambda_powertools.utilities.data_classes",
    "aws_lambda_powertools.utilities.parameters",
)


def test_requirements_are_what_the_lock_says() -> None:
    """requirements.txt holds the versions and hashes of uv.lock for the functions; `make requirements` writes it."""
    locked = {package["name"]: package for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    needed = set(_needs("lineage-adapter", locked))
    assert _required() == {(name, locked[name]["version"]): _hashes(locked[name]) for name in needed}


def test_the_sbom_lists_exactly_what_is_locked_for_the_functions(tmp_path: Path) -> None:
    """Each with its version and the hashes that the build insists on."""
    made = ["make", "--no-print-directory", "sbom", f"SBOM={tmp_path}/sbom.json"]
    subprocess.run(made, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 - this repository's own target
    sbom = json.loads((tmp_path / "sbom.json").read_text())
    assert sbom["bomFormat"] == "CycloneDX"
    listed = {(one["name"], one["version"]): _listed_hashes(one) for one in sbom["components"]}
    assert listed == _required()


def _listed_hashes(component: dict[str, Any]) -> set[str]:
    files = component["externalReferences"]
    return {f"sha256:{one['content']}" for file in files for one in file["hashes"] if one["alg"] == "SHA-256"}


def _needs(name: str, locked: Packages) -> Iterator[str]:
    for dependency in locked[name].get("dependencies", ()):
        yield dependency["name"]
        yield from _needs(dependency["name"], locked)


def _hashes(package: dict[str, Any]) -> set[str]:
    files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]
    return {file["hash"] for file in files}


def _required() -> dict[tuple[str, str], set[str]]:
    blocks = re.split(r"^(?=[\w.-]+==)", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)[1:]
    pins = [re.match(r"([\w.-]+)==(\S+)", block) for block in blocks]
    return {
        (pin[1], pin[2]): set(re.findall(r"--hash=(\S+)", block))
        for pin, block in zip(pins, blocks, strict=True)
        if pin
    }


def test_prune_keeps_what_is_read_and_drops_the_rest(tmp_path: Path) -> None:
    kept = [
        "botocore/data/datazone/2018-05-10/endpoint-rule-set-1.json.gz",
        "botocore/data/endpoints.json",
        "botocore/data/partitions.json",
        "boto3-1.dist-info/METADATA",
        "adapter/model.py",
    ]
    dropped = [
        "botocore/data/ec2/2016-11-15/service-2.json.gz",
        "botocore/data/s3/2006-03-01/examples-1.json",
        "boto3-1.dist-info/RECORD",
        "boto3-1.dist-info/licenses/LICENSE",
        "adapter/__pycache__/model.cpython-312.pyc",
        "adapter/doors/__pycache__/http.cpython-313.pyc",
        "jsonschema_rs/__init__.pyi",
        "bin/jp.py",
        ".lock",
    ]
    for name in kept + dropped:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"partitions": []}')
    prune(tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(kept)


def test_byte_code_is_trusted_as_it_is_and_names_where_lambda_unpacks_it(tmp_path: Path) -> None:
    """PEP 552: flags 1 is a hash that is not checked, so whatever times an upload leaves, nothing is compiled again."""
    (tmp_path / "one.py").write_text("x = 1\n")
    assert compile_all(tmp_path)
    (compiled,) = tmp_path.glob("__pycache__/*.pyc")
    assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 1
    assert marshal.loads(compiled.read_bytes()[16:]).co_filename == "/var/task/one.py"  # noqa: S302 - written just above


def test_a_module_that_does_not_compile_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x =\n")
    assert not compile_all(tmp_path)


def test_the_artefact_runs_alone_imports_nothing_dear_and_knows_datazones_address(tmp_path: Path) -> None:
    """With nothing else to import, both handlers start, and the endpoint is the one of botocore's uncut data."""
    probe = subprocess.run(  # noqa: S603 - this interpreter, on the text above
        [sys.executable, "-S", "-c", PROBE, str(assemble(tmp_path / "artefact")), *DEAR],
        env=ENVIRONMENT,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (probe.stdout, probe.stderr) == ("https://datazone.us-east-1.api.aws\n\n", "")


def test_sizes_count_files_before_and_after_zipping(tmp_path: Path) -> None:
    (tmp_path / "zeros").write_bytes(bytes(100_000))
    unzipped, zipped = sizes(tmp_path)
    assert unzipped == 100_000
    assert zipped < 1_000
