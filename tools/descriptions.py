"""Cuts botocore's descriptions of AWS to what the adapter calls: they are read whole at each cold start.

An operation that is kept is described to the letter as before, all that its requests, answers and errors are made of.
What says where a service is (endpoint-rule-set-1, partitions.json) is not touched, and endpoints.json keeps every
partition and region.
"""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Shapes = dict[str, dict[str, Any]]

# What the adapter calls, by service; sts assumes the role for a domain in another account.
OPERATIONS = {
    "datazone": ("GetLineageEvent", "ListLineageEvents", "PostLineageEvent"),
    "s3": ("GetObject", "ListObjectsV2", "PutObject"),
    "secretsmanager": ("GetSecretValue",),
    "sqs": ("ChangeMessageVisibility", "SendMessage"),
    "sts": ("AssumeRole",),
}

# Of a service's files: what only a reader of documentation or a waiter wants, and no waiter is called.
_UNREAD = ("examples-*", "waiters-*")


def cut(data: Path) -> None:
    """Cut `data`, which is botocore/data of an artefact, in place."""
    for directory in data.glob("*/"):
        if directory.name not in OPERATIONS:
            shutil.rmtree(directory)
    for service, operations in OPERATIONS.items():
        for unread in (path for pattern in _UNREAD for path in data.glob(f"{service}/*/{pattern}")):
            unread.unlink()
        for model in data.glob(f"{service}/*/service-2.json.gz"):
            described = _of_operations(json.loads(gzip.decompress(model.read_bytes())), operations)
            # Without a time in it, so that the same build gives the same bytes.
            model.write_bytes(gzip.compress(_written(described), mtime=0))
    endpoints = data / "endpoints.json"
    endpoints.write_bytes(_written(_of_services(json.loads(endpoints.read_bytes()))))


def _of_operations(model: dict[str, Any], operations: tuple[str, ...]) -> dict[str, Any]:
    kept = {name: model["operations"][name] for name in operations}
    # A service answers any operation with any of its errors, listed there or not.
    errors = [name for name, shape in model["shapes"].items() if shape.get("exception")]
    needed = _reached([*_named(kept), *errors], model["shapes"])
    shapes = {name: shape for name, shape in model["shapes"].items() if name in needed}
    return model | {"operations": _undocumented(kept), "shapes": _undocumented(shapes)}


def _reached(names: list[str], shapes: Shapes) -> set[str]:
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        if (name := waiting.pop()) not in reached:
            reached.add(name)
            waiting += _named(shapes[name])
    return reached


def _named(description: object) -> Iterator[str]:
    """Yield the shapes that `description` names, at any depth."""
    if isinstance(description, dict):
        if isinstance(name := description.get("shape"), str):
            yield name
        for value in description.values():
            yield from _named(value)
    elif isinstance(description, list):
        for value in description:
            yield from _named(value)


def _undocumented(description: Any) -> Any:  # noqa: ANN401 - any JSON
    """Leave out the texts, which are most of it; what is called documentation and is no text is a shape's member."""
    if isinstance(description, dict):
        texts = {"documentation"} if isinstance(description.get("documentation"), str) else set()
        return {key: _undocumented(value) for key, value in description.items() if key not in texts}
    if isinstance(description, list):
        return [_undocumented(value) for value in description]
    return description


def _of_services(endpoints: dict[str, Any]) -> dict[str, Any]:
    partitions = [
        partition | {"services": {name: at for name, at in partition["services"].items() if name in OPERATIONS}}
        for partition in endpoints["partitions"]
    ]
    return endpoints | {"partitions": partitions}


def _written(description: object) -> bytes:
    return json.dumps(description, separators=(",", ":")).encode()
