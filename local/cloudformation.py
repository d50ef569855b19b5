"""CloudFormation as far as commands need it that look the adapter's stack up: DescribeStacks, of one stack.

moto's own makes nothing of a template of SAM's, and loads every service there is to say so. Wire: botocore's service
model of CloudFormation (AWS query protocol).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs
from xml.etree.ElementTree import Element, SubElement, tostring

from local.server import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.server import Request

CLOUDFORMATION = "cloudformation"


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack that is there: its id and its outputs, by their names."""

    name: str
    id: str
    outputs: Mapping[str, str]


def answer(request: Request, stack: Stack | None) -> Response:
    """Answer a request in an account where `stack` is the only one."""
    asked = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    if asked.get("Action") != "DescribeStacks":
        return _refusal("InvalidAction", "the local CloudFormation knows DescribeStacks only")
    name = asked.get("StackName")
    if stack is None or name not in (None, stack.name, stack.id):
        return _refusal("ValidationError", f"Stack with id {name} does not exist")
    return _described(stack)


def _described(stack: Stack) -> Response:
    root = Element("DescribeStacksResponse", xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/")
    member = SubElement(SubElement(SubElement(root, "DescribeStacksResult"), "Stacks"), "member")
    about = {"StackId": stack.id, "StackName": stack.name, "StackStatus": "CREATE_COMPLETE"}
    for key, value in (about | {"CreationTime": datetime.now(UTC).isoformat()}).items():
        SubElement(member, key).text = value
    outputs = SubElement(member, "Outputs")
    for key, value in stack.outputs.items():
        output = SubElement(outputs, "member")
        SubElement(output, "OutputKey").text = key
        SubElement(output, "OutputValue").text = value
    return _xml(200, root)


def _refusal(code: str, message: str) -> Response:
    root = Element("ErrorResponse", xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/")
    error = SubElement(root, "Error")
    for key, value in {"Type": "Sender", "Code": code, "Message": message}.items():
        SubElement(error, key).text = value
    return _xml(400, root)


def _xml(status: int, root: Element) -> Response:
    return Response(status, [("Content-Type", "text/xml")], tostring(root))
