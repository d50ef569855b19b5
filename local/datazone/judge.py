"""What DataZone itself says of an event: whether it is an OpenLineage run event it can take.

Independent of the adapter: another parser's rules, the jsonschema library, and no assertion of formats, since AWS
documents none. The adapter must never let through what is refused here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMA = Path(__file__).parents[2] / "schemas" / "openlineage-2-0-2.json"


class NotARunEventError(Exception):
    """DataZone takes OpenLineage run events only, and this is none; the message holds no values of it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What DataZone keeps of an event beside its bytes. `time` is its eventTime, None where that is no date-time."""

    time: datetime | None
    run_event: Mapping[str, Any]


def _validator() -> Draft202012Validator:
    definitions = json.loads(_SCHEMA.read_bytes())["$defs"]
    return Draft202012Validator({"$ref": "#/$defs/RunEvent", "$defs": definitions})


_RUN_EVENT = _validator()


def judge(raw: bytes) -> Summary:
    """Read `raw` and sum it up; raise NotARunEventError when it is not a valid OpenLineage 2-0-2 RunEvent."""
    try:
        event = json.loads(raw.decode("utf-8"), parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise NotARunEventError("the event is not JSON") from error
    if wrong := next(_RUN_EVENT.iter_errors(event), None):
        raise NotARunEventError(f"the event breaks the OpenLineage schema: {wrong.validator} at {wrong.json_path}")
    return Summary(_time(event["eventTime"]), _run_event(event))


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


def _time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _run_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Shape: DataZone API reference, OpenLineageRunEventSummary."""
    summary = {
        "runId": event["run"]["runId"],
        "job": _identifier(event["job"]),
        "inputs": [_identifier(dataset) for dataset in event.get("inputs", [])],
        "outputs": [_identifier(dataset) for dataset in event.get("outputs", [])],
    }
    return summary | ({"eventType": event["eventType"]} if "eventType" in event else {})


def _identifier(named: Mapping[str, Any]) -> dict[str, str]:
    return {"namespace": named["namespace"], "name": named["name"]}
