"""Prints template.yaml as CloudFormation sees it once SAM's transform has run: `python -m tools.translate`.

`sam validate --lint` does not notice everything in the short forms, a wrong Runtime for one; in the long ones a linter
does.
"""

# ruff: noqa: T201 - its output is its purpose

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from boto3 import Session
from samtranslator.parser.parser import Parser  # type: ignore[import-untyped] # ships no types, as the next two
from samtranslator.translator.translator import Translator  # type: ignore[import-untyped]
from samtranslator.yaml_helper import yaml_parse  # type: ignore[import-untyped]

from local import template as local

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPLATE = Path(__file__).parent.parent / "template.yaml"

# CloudFormation's own parameters, as far as conditions and rules may ask for them.
PSEUDO_PARAMETERS = {"AWS::AccountId": "123456789012", "AWS::Partition": "aws", "AWS::Region": "us-east-1"}
NO_VALUE = {"Ref": "AWS::NoValue"}


def template() -> dict[str, Any]:
    """Return template.yaml as it is written, its tags in their long form ({"Ref": …}, {"Fn::If": …})."""
    return cast("dict[str, Any]", yaml_parse(TEMPLATE.read_text()))


def translated() -> dict[str, Any]:
    """Return template.yaml after SAM's transform. Raises samtranslator's InvalidDocumentException."""
    uploaded = template()
    uploaded["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"  # as `sam deploy` leaves it after the upload
    # No policy map: the template names no managed policy of AWS. The region only has to be one.
    translator = Translator({}, Parser(), boto_session=Session(region_name="us-east-1"))
    return cast("dict[str, Any]", translator.translate(uploaded, {}))


def settled(document: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return `document` as CloudFormation would create it with the parameters `given`: no condition is left in it.

    What a condition turns off is gone, and so are the parameters that nothing refers to then; those given
    have their values for defaults. Other references stay.
    Raises local.template's TemplateError for parameters that the template does not take.
    """
    conditions = local.of(document, {"DomainId": "dzd_1", **given}, PSEUDO_PARAMETERS)
    kept = {
        section: {
            name: _decided({key: value for key, value in one.items() if key != "Condition"}, conditions)
            for name, one in document[section].items()
            if "Condition" not in one or conditions.holds(one["Condition"])
        }
        for section in ("Resources", "Outputs")
    }
    text = json.dumps(kept)
    used = {
        name: {"Type": one["Type"], "Default": given[name], "AllowedValues": [given[name]]} if name in given else one
        for name, one in document["Parameters"].items()
        if f'"Ref": "{name}"' in text or f"${{{name}}}" in text
    }
    return {"AWSTemplateFormatVersion": "2010-09-09", "Parameters": used, **kept}


def _decided(node: Any, conditions: local.Template) -> Any:  # noqa: ANN401 - a template holds any JSON
    match node:
        case {"Fn::If": [str(condition), then, otherwise]}:
            return _decided(then if conditions.holds(condition) else otherwise, conditions)
        case dict():
            decided = {key: _decided(value, conditions) for key, value in node.items()}
            return {key: value for key, value in decided.items() if value != NO_VALUE}
        case list():
            return [one for one in (_decided(value, conditions) for value in node) if one != NO_VALUE]
        case _:
            return node


if __name__ == "__main__":
    print(json.dumps(translated(), indent=2))
