"""An event of our own, posted as an emitter would and followed until DataZone says how it ended.

It is a RunEvent without datasets. What the catalog makes of it is a run of the job CANARY in the namespace that is
asked for.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx

from adapter.accept import accept
from adapter.model import Cause, RunEvent, Source
from adapter.processing import Status
from cli import aws
from cli.address import EVENT_PATH
from cli.doctor import answers
from cli.doctor.finding import Finding, State, failed, not_looked_at, ok, some, warning
from cli.status import NAMESPACE as METRICS
from cli.verify import LOOKED_AT, Domain

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.doctor.door import Door

NAMESPACE = "lineage-adapter.doctor"
CANARY = "canary"
_PRODUCER = "urn:lineage-adapter:doctor"
_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
# How far two clocks may be apart.
_EARLIER = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Place:
    """The domain to look for it in, and the stack whose metrics say why something waits; None where not known."""

    stack: str | None
    domain_id: str | None
    region: str | None
    endpoint_url: str | None


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds it is followed for, and who is told how far it is."""

    seconds: float
    note: Callable[[str], None]


def event(namespace: str) -> RunEvent:
    """Make a new one; raise ValueError for what no job namespace can be.

    It is an OTHER: a START would leave a run that never ends, and an end without datasets is warned of.
    """
    raw = json.dumps(
        {
            "eventType": "OTHER",
            "eventTime": datetime.now(UTC).isoformat(),
            "run": {"runId": str(uuid4())},
            "job": {"namespace": namespace, "name": CANARY},
            "producer": _PRODUCER,
            "schemaURL": _SCHEMA,
        }
    )
    accepted = accept(raw.encode())
    if not isinstance(accepted, RunEvent):
        raise ValueError(f"no event with that job namespace is taken ({accepted.code})")  # noqa: TRY004 - of its value
    return accepted


def look(door: Door, place: Place, namespace: str, patience: Patience) -> Finding:
    """Post one and follow it; raise AwsError where DataZone cannot be asked."""
    canary = event(namespace)
    patience.note(f"posting an event of the job {CANARY} in {namespace}; it will be seen in the catalog")
    began = datetime.now(UTC)
    try:
        answer = door.post(EVENT_PATH, canary.raw, with_token=True)
    except httpx.RequestError as error:
        return answers.unanswered(error)
    if answer.status_code not in (200, 202):
        return answers.explained(answer, "the canary")
    said = answers.body(answer)
    if said.get("clientToken") != canary.client_token:
        return failed(
            "the adapter has another event than was posted",
            "something on the way changes bodies: a proxy or a firewall",
        )
    found = _Followed(canary, place, patience, began).finding(said.get("id"), str(said.get("domainId") or ""))
    return _again(door, canary, said.get("id"), found) if found.state is State.OK else found


def _again(door: Door, canary: RunEvent, lineage_event_id: object, found: Finding) -> Finding:
    """Post the same once more: DataZone is to know it by its client token."""
    try:
        answer = door.post(EVENT_PATH, canary.raw, with_token=True)
    except httpx.RequestError as error:
        return answers.unanswered(error)
    again = answers.body(answer).get("id")
    if again == lineage_event_id:
        return ok(f"{found.said}; posted again it is the same event")
    return warning(
        f"{found.said}; posted again it is answered {answer.status_code}, as {again}",
        "DataZone does not know it by its client token: what is sent twice may be in the catalog twice",
    )


@dataclass(frozen=True, slots=True)
class _Followed:
    canary: RunEvent
    place: Place
    patience: Patience
    began: datetime

    def finding(self, lineage_event_id: object, domain_id: str) -> Finding:
        """Follow what is delivered under `lineage_event_id`, or deferred, if that is None."""
        taken = f"DataZone took it as {lineage_event_id}" if lineage_event_id else "it was deferred (202)"
        if not (self.place.domain_id or domain_id):
            return not_looked_at(f"{taken}; where to follow it is not known", "name the stack with --stack")
        try:
            client = aws.datazone(self.place.region, self.place.endpoint_url)
            domain = Domain(client, self.place.domain_id or domain_id)
            return self._to_its_end(domain, str(lineage_event_id) if lineage_event_id else None)
        except aws.AwsError as error:
            found = not_looked_at if isinstance(error, aws.UnseenError) else failed
            return found(f"{taken}{self._causes()}; how it ended could not be seen: {error.message}")

    def _to_its_end(self, domain: Domain, delivered_as: str | None) -> Finding:
        deadline, pause = time.monotonic() + self.patience.seconds, _FIRST_PAUSE
        identifier, status = delivered_as, None
        while True:
            identifier = identifier or self._found(domain)
            stored = domain.get(identifier) if identifier else None
            status = stored[1] if stored else None
            if stored and status in (Status.SUCCESS, Status.FAILED):
                return self._ended(str(identifier), *stored, deferred=delivered_as is None)
            if time.monotonic() + pause > deadline:
                return self._unfinished(identifier, status)
            self.patience.note(f"{status or 'not in DataZone yet'}, {self._seconds()} s")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _found(self, domain: Domain) -> str | None:
        """Look a deferred one up in the domain's list, which names no tokens; its run is its own."""
        listed = islice(domain.listed(self.began - _EARLIER), LOOKED_AT)
        return next((found.lineage_event_id for (run, *_), found in listed if run == self.canary.run_id), None)

    def _ended(self, identifier: str, raw: bytes, status: str, *, deferred: bool) -> Finding:
        said = f"{status} as {identifier} after {self._seconds()} s"
        if raw != self.canary.raw:
            return failed(f"{said}, with other bytes than were posted", "report it: this must not be")
        if status == Status.FAILED:
            return failed(
                f"{said}: DataZone took it and could not process it, and does not say why",
                'docs/operate.md, "When DataZone takes an event and cannot process it"; ask AWS about the domain',
            )
        if deferred:
            return warning(f"{said}, by way of the backlog{self._causes()}", "what deferred it is over for now")
        return ok(
            f"{said}, byte for byte; the catalog shows the job {self.canary.job.name} in {self.canary.job.namespace}"
        )

    def _unfinished(self, identifier: str | None, status: str | None) -> Finding:
        if identifier is None:
            return failed(
                f"deferred, and not among DataZone's events after {self._seconds()} s{self._causes()}",
                "it is not lost: it waits in the backlog; the HTTP function's log has its cause by this client token: "
                f"{self.canary.client_token}",
            )
        return not_looked_at(
            f"DataZone has it as {identifier}, {status or 'unknown'} after {self._seconds()} s",
            "it may still fail: --wait longer, or lineage-adapter status in a while",
        )

    def _seconds(self) -> str:
        return f"{(datetime.now(UTC) - self.began).total_seconds():.0f}"

    def _causes(self) -> str:
        """Say why events were deferred meanwhile, as far as CloudWatch knows by now."""
        if self.place.stack is None:
            return ""
        try:
            causes = _deferrals(self.place.stack, self.place.endpoint_url, self.began)
        except aws.AwsError:
            return ""  # the finding stands without
        return f"; deferred for {some(causes)}" if causes else ""


def _deferrals(stack: str, endpoint_url: str | None, since: datetime) -> list[str]:
    """Name the causes of deferral that the functions have counted since then; raise AwsError."""
    series = {f"m{number}": pair for number, pair in enumerate((door, cause) for door in _DOORS for cause in Cause)}
    queries: list[Any] = [
        {"Id": key, "MetricStat": {"Metric": _metric(stack, *pair), "Period": 60, "Stat": "Sum"}}
        for key, pair in series.items()
    ]
    with aws.explained("CloudWatch"):
        results = aws.cloudwatch(endpoint_url).get_metric_data(
            MetricDataQueries=queries,
            StartTime=since.replace(second=0, microsecond=0),
            EndTime=datetime.now(UTC) + timedelta(minutes=1),
        )["MetricDataResults"]
    return sorted({series[one["Id"]][1].value for one in results if sum(one["Values"])})


_DOORS = (Source.HTTP, Source.BACKLOG)


def _metric(stack: str, door: Source, cause: Cause) -> dict[str, Any]:
    dimensions = {"service": stack, "door": door.value, "cause": cause.value}
    return {
        "Namespace": METRICS,
        "MetricName": "Deferred",
        "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
    }
