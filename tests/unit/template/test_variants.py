"""Linters see each thing that a parameter turns on, and each exception made for one says why."""

from __future__ import annotations

import re
from typing import Any

import pytest

from local import template as local
from tests.artefact import ROOT
from tests.unit.template.deployed import TEMPLATE, broken
from tools.translate import PSEUDO_PARAMETERS
from tools.variants import VARIANTS

MAKEFILE = (ROOT / "Makefile").read_text()
# Longer than a name for it; a reason.
A_REASON = 20


def held(name: str) -> set[bool]:
    values = [local.of(TEMPLATE, {"DomainId": "dzd_1", **given}, PSEUDO_PARAMETERS) for given in VARIANTS.values()]
    return {one.holds(name) for one in values}


@pytest.mark.parametrize("condition", TEMPLATE["Conditions"])
def test_every_condition_holds_in_a_variant_and_does_not_in_another(condition: str) -> None:
    assert held(condition) == {True, False}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_could_be_deployed(name: str) -> None:
    assert broken(**VARIANTS[name]) == []


def exceptions() -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, skip)
        for name, resource in TEMPLATE["Resources"].items()
        for skip in resource.get("Metadata", {}).get("checkov", {}).get("skip", ())
    ]


def test_every_exception_in_the_template_has_its_reason() -> None:
    assert exceptions()
    for name, skip in exceptions():
        assert re.fullmatch(r"CKV\w*_\d+", skip["id"]), name
        assert len(skip["comment"]) >= A_REASON, name


def test_every_exception_beside_the_template_has_its_reason() -> None:
    reasons = dict(re.findall(r"^# (CKV\w+): (.+)$", MAKEFILE, re.MULTILINE))
    (excepted,) = re.findall(r"^EXCEPTED := (.+)$", MAKEFILE, re.MULTILINE)
    assert set(reasons) == set(excepted.split(","))
    assert all(len(reason) >= A_REASON for reason in reasons.values())


def test_what_a_parameter_turns_on_is_excused_only_where_it_is_off() -> None:
    """One run has no exceptions beyond those with a reason, and it is of the variant with everything."""
    runs = re.findall(r"^\t\$\(CHECKOV\) (.+)$", MAKEFILE, re.MULTILINE)
    whole = [run for run in runs if "UNTIL_ASKED" not in run]
    assert whole == ["--file .build/variants/everything.json --skip-check $(EXCEPTED)"]
