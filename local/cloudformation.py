"""CloudFormation as far as commands need it that look the adapter's stack up: one stack, described and listed.

moto's own makes nothing of a template of SAM's, and loads every service there is to say so. Wire: botocore's service
model of CloudFormation (AWS query protocol).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs
from xml.etree.ElementTree import Element, SubElement, tostring

from local.server import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.server import Request

CLOUDFORMATION = "cloudformation"


_XMLNS = "http://cloudformation.amazonaws.com/doc/2010-05-15/"


@dataclass(frozen=True, slots=True)
class Resource:
    """A part of the stack that is there: its name in the template, its type and its name here."""

    logical_id: str
    type: str
    physical_id: str


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack that is there: its id, its outputs and parameters by their names, and what it is made of."""

    name: str
    id: str
    outputs: Mapping[str, str]
    parameters: Mapping[str, str] = field(default_factory=dict)
    resources: tuple[Resource, ...] = ()
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


def answer(request: Request, stack: Stack | None) -> Response:
    """Answer a request in an account where `stack` is the only one."""
    asked = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    answers = {"DescribeStacks": _described, "ListStackResources": _listed}
    action = asked.get("Action", "")
    if action not in answers:
        return _refusal("InvalidAction", f"the local CloudFormation knows {' and '.join(answers)} only")
    name = asked.get("StackName")
    if stack is None or name not in (None, stack.name, stack.id):
        return _refusal("ValidationError", f"Stack with id {name} does not exist")
    return answers[action](stack)


def _described(stack: Stack) -> Response:
    root, result = _answering("DescribeStacks")
    member = SubElement(SubElement(result, "Stacks"), "member")
    about = {"StackId": stack.id, "StackName": stack.name, "StackStatus": "CREATE_COMPLETE"}
    _say(member, about | {"CreationTime": stack.created.isoformat()})
    for kind, values in (("Output", stack.outputs), ("Parameter", stack.parameters)):
        listed = SubElement(member, f"{kind}s")
        for key, value in values.items():
            _say(SubElement(listed, "member"), {f"{kind}Key": key, f"{kind}Value": value})
    return _xml(200, root)


def _listed(stack: Stack) -> Response:
    root, result = _answering("ListStackResources")
    listed = SubElement(result, "StackResourceSummaries")
    for one in stack.resources:
        about = {"LogicalResourceId": one.logical_id, "PhysicalResourceId": one.physical_id, "ResourceType": one.type}
        state = {"ResourceStatus": "CREATE_COMPLETE", "LastUpdatedTimestamp": stack.created.isoformat()}
        _say(SubElement(listed, "member"), about | state)
    return _xml(200, root)


def _answering(action: str) -> tuple[Element, Element]:
    root = Element(f"{action}Response", xmlns=_XMLNS)
    return root, SubElement(root, f"{action}Result")


def _say(element: Element, values: Mapping[str, str]) -> None:
    for key, value in values.items():
        SubElement(element, key).text = value


def _refusal(code: str, message: str) -> Response:
    root = Element("ErrorResponse", xmlns=_XMLNS)
    _say(SubElement(root, "Error"), {"Type": "Sender", "Code": code, "Message": message})
    return _xml(400, root)


def _xml(status: int, root: Element) -> Response:
    return Response(status, [("Content-Type", "text/xml")], tostring(root))
