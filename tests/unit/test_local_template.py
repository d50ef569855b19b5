"""The local system reads template.yaml as CloudFormation does, and refuses to guess."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from adapter import settings
from local import mapping, resources, sqs, template
from local.account import ACCOUNT
from local.system import PARAMETERS, TEMPLATE
from local.template import Physical, Template, TemplateError

if TYPE_CHECKING:
    from pathlib import Path

ENDPOINT = "http://127.0.0.1:4566"

SMALL = """
Parameters:
  Size: { Type: Number, Default: 0, MinValue: 0, MaxValue: 9 }
  Level: { Type: String, Default: low, AllowedValues: [low, high] }
  Name: { Type: String, AllowedPattern: '[a-z]+' }
Conditions:
  Sized: !Not [!Equals [!Ref Size, 0]]
  Both: !And [!Condition Sized, !Equals [!Ref Level, high]]
  Either: !Or [!Condition Sized, !Equals [!Ref Level, high]]
Globals:
  Function:
    Timeout: 7
    Environment:
      Variables: { SHARED: global, OWN: global }
Resources:
  Queue: { Type: AWS::SQS::Queue }
  Door:
    Type: AWS::Serverless::Function
    Properties:
      Handler: a.b
      Environment:
        Variables:
          OWN: !Sub "${Name}-${Queue.Arn}-${!literal}"
          FLAG: true
          COUNT: !Ref Size
      Events:
        Post: { Type: HttpApi, Properties: { Path: /x, Method: POST, ApiId: !If [Sized, a, !Ref AWS::NoValue] } }
  Hidden:
    Type: AWS::Serverless::Function
    Condition: Sized
    Properties: { Handler: c.d, Timeout: 9, Environment: { Variables: { OWN: !Ref Queue } } }
"""


def read(tmp_path: Path, given: dict[str, str] | None = None, text: str = SMALL) -> Template:
    path = tmp_path / "template.yaml"
    path.write_text(text)
    physical = {name: Physical(f"the-{name}", {"Arn": f"arn:{name}"}) for name in ("Queue", "Door", "Hidden")}
    found = template.read(path, {"Name": "abc", **(given or {})}, {"AWS::Region": "us-east-1"})
    return Template(found.document, found.parameters, physical)


def test_globals_are_merged_under_what_a_function_says_itself(tmp_path: Path) -> None:
    (door,) = read(tmp_path).functions()
    assert (door.handler, door.timeout, door.memory, door.name) == ("a.b", 7, 128, "the-Door")
    assert door.environment == {"SHARED": "global", "OWN": "abc-arn:Queue-${literal}", "FLAG": "true", "COUNT": "0"}


def test_a_condition_decides_what_there_is(tmp_path: Path) -> None:
    """As CloudFormation compares: the number 0 and the string "0" are equal."""
    assert [function.logical_id for function in read(tmp_path, {"Size": "0"}).functions()] == ["Door"]
    sized = read(tmp_path, {"Size": "1"})
    assert [function.logical_id for function in sized.functions()] == ["Door", "Hidden"]
    assert sized.functions()[1].timeout == 9


def test_no_value_leaves_nothing_behind(tmp_path: Path) -> None:
    events = [read(tmp_path, {"Size": size}).functions()[0].events[0].properties for size in ("0", "1")]
    assert events == [{"Path": "/x", "Method": "POST"}, {"Path": "/x", "Method": "POST", "ApiId": "a"}]


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"Fn::Join": ["-", ["a", {"Ref": "Size"}]]}, "a-0"),
        ({"Fn::Select": [1, {"Fn::Split": ["/", "a/b/c"]}]}, "b"),
        ({"Fn::Sub": ["${X}.${AWS::Region}", {"X": {"Ref": "Name"}}]}, "abc.us-east-1"),
        ({"Fn::GetAtt": ["Queue", "Arn"]}, "arn:Queue"),
        ({"Fn::GetAtt": "Queue.Arn"}, "arn:Queue"),
        ({"Fn::If": ["Both", 1, 2]}, 2),
        ({"Fn::If": ["Either", 1, 2]}, 2),
        ([{"Ref": "AWS::NoValue"}, {"Ref": "Queue"}], ["the-Queue"]),
    ],
)
def test_intrinsic_functions_are_resolved(tmp_path: Path, node: object, value: object) -> None:
    assert read(tmp_path).resolve(node, "here") == value


@pytest.mark.parametrize(
    ("node", "complaint"),
    [
        ({"Ref": "Nobody"}, "here: Nobody"),
        ({"a": [{"Fn::Sub": "${Nobody}"}]}, r"here\.a\[0\] Fn::Sub: Nobody"),
        ({"Fn::GetAtt": "Queue.Colour"}, "Queue has no known attribute Colour"),
        ({"Fn::If": ["Unheard", 1, 2]}, "no condition Unheard"),
        ({"Fn::ImportValue": "x"}, "Fn::ImportValue is not supported"),
    ],
)
def test_what_cannot_be_resolved_is_an_error_that_says_where(tmp_path: Path, node: object, complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        read(tmp_path).resolve(node, "here")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"Nmae": "x"}, "has no parameter Nmae"),
        ({"Level": "middle"}, "Level must be one of low, high"),
        ({"Name": "A1"}, "Name must match"),
        ({"Size": "10"}, "Size must be a number"),
        ({"Size": "-1"}, "Size must be a number"),
        ({"Size": "big"}, "Size must be a number"),
    ],
)
def test_parameters_are_held_to_the_template(tmp_path: Path, given: dict[str, str], complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        read(tmp_path, given)


def test_a_parameter_without_default_has_to_be_given(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="parameter Needed needs a value"):
        read(tmp_path, text=SMALL.replace("Parameters:\n", "Parameters:\n  Needed: { Type: String }\n"))


def test_a_function_without_handler_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="Door has no Handler"):
        read(tmp_path, text=SMALL.replace("Handler: a.b", "Description: x")).functions()


@pytest.fixture(scope="module")
def deployed() -> Template:
    return resources.named(template.read(TEMPLATE, PARAMETERS, resources.PSEUDO_PARAMETERS), ENDPOINT)


def test_the_functions_get_the_deployed_environment(deployed: Template) -> None:
    """Each has all that the settings read, and it is right."""
    functions = deployed.functions()
    assert {function.handler for function in functions} >= {"adapter.handlers.http.handler"}
    for function in functions:
        assert set(settings.VARIABLES) <= function.environment.keys()
        read = settings.read(function.environment)
        assert (read.domain_id, read.domain_region) == ("dzd_local", "us-east-1")


def test_names_are_those_of_the_local_aws(deployed: Template) -> None:
    (stream,) = deployed.resources("AWS::Kinesis::Stream")
    assert deployed.physical[stream].ref == resources.STREAM
    environment = deployed.functions()[0].environment
    queues = {deployed.physical[name].ref for name in deployed.resources("AWS::SQS::Queue")}
    assert environment["BACKLOG_URL"] in queues
    assert environment["BACKLOG_URL"].startswith(f"{ENDPOINT}/{ACCOUNT}/")
    buckets = {deployed.physical[name].ref for name in deployed.resources("AWS::S3::Bucket")}
    assert environment["QUARANTINE_BUCKET"] in buckets


def _events(deployed: Template, kind: str) -> list[Any]:
    return [event for function in deployed.functions() for event in function.events if event.type == kind]


def test_the_stream_mapping_is_the_deployed_one(deployed: Template) -> None:
    (event,) = _events(deployed, "Kinesis")
    read = mapping.mapping(event)
    assert read.stream_arn == f"arn:aws:kinesis:us-east-1:{ACCOUNT}:stream/{resources.STREAM}"
    assert read.reports_failures
    assert read.bisects
    assert read.starting_position == "TRIM_HORIZON"
    assert read.batch_size == event.properties["BatchSize"]
    assert read.max_retries is None


def test_the_queue_mapping_is_the_deployed_one(deployed: Template) -> None:
    (event,) = _events(deployed, "SQS")
    read = sqs.mapping(event)
    assert read.queue_arn in {one.attributes.get("Arn") for one in deployed.physical.values()}
    assert read.reports_failures
    assert read.batch_size == event.properties["BatchSize"]
    assert read.concurrency == event.properties["ScalingConfig"]["MaximumConcurrency"]
