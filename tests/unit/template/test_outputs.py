"""The outputs name what one has to know."""

from __future__ import annotations

from tests.unit.template.deployed import TEMPLATE


def test_the_outputs_say_where_to_post() -> None:
    outputs = TEMPLATE["Outputs"]
    host, api = {"Fn::Sub": "https://${HostName}"}, {"Fn::GetAtt": ["HttpApi", "ApiEndpoint"]}
    assert outputs["Url"]["Value"] == {"Fn::If": ["HostGiven", host, api]}
    assert outputs["StreamName"]["Value"] == {"Ref": "Stream"}
    assert all(output["Description"] for output in outputs.values())


def test_the_outputs_say_where_events_wait_and_are_kept() -> None:
    outputs = {name: output["Value"] for name, output in TEMPLATE["Outputs"].items()}
    assert outputs["BacklogUrl"] == {"Ref": "Backlog"}
    assert outputs["DeadLetterUrl"] == {"Ref": "DeadLetters"}
    assert outputs["QuarantineBucketName"] == {"Ref": "Quarantine"}
    assert outputs["BacklogFunctionName"] == {"Ref": "BacklogFunction"}
    assert outputs["BacklogLogGroupName"] == {"Ref": "BacklogLogGroup"}
