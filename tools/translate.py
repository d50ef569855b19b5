"""Prints template.yaml as CloudFormation sees it once SAM's transform has run: `python -m tools.translate`.

`sam validate --lint` does not notice everything in the short forms, a wrong Runtime for one; in the long ones a linter
does.
"""

# ruff: noqa: T201 - its output is its purpose

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from boto3 import Session
from samtranslator.parser.parser import Parser  # type: ignore[import-untyped] # ships no types, as the next two
from samtranslator.translator.translator import Translator  # type: ignore[import-untyped]
from samtranslator.yaml_helper import yaml_parse  # type: ignore[import-untyped]

TEMPLATE = Path(__file__).parent.parent / "template.yaml"


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


if __name__ == "__main__":
    print(json.dumps(translated(), indent=2))
