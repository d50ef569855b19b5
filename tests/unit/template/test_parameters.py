"""What can be set is described, bounded, used, and taken by the code."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace

import pytest

from adapter import settings
from adapter.model import FormatAssertion
from tests.artefact import ENVIRONMENT
from tests.unit.template.deployed import PARAMETERS, TEMPLATE


def uses(name: str) -> bool:
    text = json.dumps({part: TEMPLATE[part] for part in ("Conditions", "Globals", "Resources")})
    return f'{{"Ref": "{name}"}}' in text or f"${{{name}}}" in text


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_described_bounded_and_used(name: str) -> None:
    parameter = PARAMETERS[name]
    assert parameter["Description"]
    assert {"AllowedPattern", "AllowedValues", "MinValue"} & set(parameter)
    assert ("AllowedPattern" in parameter) == ("ConstraintDescription" in parameter)
    assert uses(name)


def test_every_parameter_has_its_place_in_the_console_and_all_but_the_domain_a_default() -> None:
    groups = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert sorted(name for group in groups for name in group["Parameters"]) == sorted(PARAMETERS)
    assert [name for name, parameter in PARAMETERS.items() if "Default" not in parameter] == ["DomainId"]


@pytest.mark.parametrize("name", TEMPLATE["Conditions"])
def test_every_condition_is_used(name: str) -> None:
    text = json.dumps([TEMPLATE["Globals"], TEMPLATE["Resources"]])
    assert f'"Condition": "{name}"' in text or f'"Fn::If": ["{name}"' in text


def test_the_domains_parameters_take_what_settings_take() -> None:
    """CloudFormation holds the whole value against an AllowedPattern; an alternative that is empty allows no value."""
    assert PARAMETERS["DomainId"]["AllowedPattern"] == settings.DOMAIN_ID.pattern
    assert PARAMETERS["DomainRegion"]["AllowedPattern"] == f"|{settings.REGION.pattern}"
    assert PARAMETERS["DomainRoleArn"]["AllowedPattern"] == f"|{settings.ROLE_ARN.pattern}"


@pytest.mark.parametrize(
    ("resource", "allowed"),
    [
        ("", True),
        ("*", True),
        ("arn:aws:datazone:eu-central-1:123456789012:domain/dzd_1a2b", True),
        ("arn:aws-us-gov:datazone:us-gov-west-1:123456789012:domain/*", True),
        ("arn:aws:s3:::bucket", False),
        ("**", False),
    ],
)
def test_the_domain_resource_is_a_domain_or_all_of_them(resource: str, *, allowed: bool) -> None:
    pattern = PARAMETERS["DomainResource"]["AllowedPattern"]
    assert bool(re.fullmatch(pattern, resource)) is allowed


def test_settings_take_every_value_that_the_template_takes() -> None:
    lanes = PARAMETERS["Lanes"]
    assert settings.read(ENVIRONMENT | {"LANES": str(lanes["MinValue"])}).lanes == lanes["MinValue"]
    assert settings.read(ENVIRONMENT | {"LANES": str(lanes["MaxValue"])}).lanes == lanes["MaxValue"]
    for beyond in (lanes["MinValue"] - 1, lanes["MaxValue"] + 1):
        with pytest.raises(settings.SettingsError):
            settings.read(ENVIRONMENT | {"LANES": str(beyond)})
    assert PARAMETERS["FormatAssertion"]["AllowedValues"] == list(FormatAssertion)


def test_the_templates_defaults_are_those_of_settings() -> None:
    """What runs without a template behaves like what is deployed with all parameters left alone."""
    bare = settings.read(ENVIRONMENT)
    told = replace(
        bare,
        domain_role_arn=PARAMETERS["DomainRoleArn"]["Default"] or None,
        format_assertion=FormatAssertion(PARAMETERS["FormatAssertion"]["Default"]),
        lanes=PARAMETERS["Lanes"]["Default"],
    )
    assert told == bare


@pytest.mark.parametrize(
    ("topic", "allowed"),
    [
        ("", True),
        ("arn:aws:sns:eu-central-1:123456789012:on-call", True),
        ("arn:aws-us-gov:sns:us-gov-west-1:123456789012:on_call", True),
        ("arn:aws:sns:eu-central-1:123456789012:on-call.fifo", False),
        ("arn:aws:sqs:eu-central-1:123456789012:on-call", False),
    ],
)
def test_alarms_go_to_a_topic_that_alarms_can_use(topic: str, *, allowed: bool) -> None:
    """CloudWatch does not publish to a FIFO topic."""
    assert bool(re.fullmatch(PARAMETERS["AlarmTopicArn"]["AllowedPattern"], topic)) is allowed


def test_log_levels_are_pythons() -> None:
    assert set(PARAMETERS["LogLevel"]["AllowedValues"]) <= set(logging.getLevelNamesMapping())
