"""`lineage-adapter verify`: whether DataZone has events as they are here, byte for byte.

DataZone does not tell an event's token, and gives its bytes by its own id only. An archived copy carries that id. For
any other event the domain's list is looked through, from a day before the earliest of them, for what has the same run,
job, type and time; of those the bytes are fetched and compared.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from botocore.exceptions import ClientError

from adapter.accept import accept
from adapter.model import FormatAssertion, RunEvent
from adapter.pointer import step
from adapter.processing import PAGE, Status
from adapter.text import Parsed, parse
from cli import aws, options
from cli.replay import Places
from cli.report import printable
from cli.status import STACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mypy_boto3_datazone import DataZoneClient

    from cli.sources import Item

# Events of the domain's list that are looked at, and places that a difference names.
LOOKED_AT = 20_000
NAMED = 10
# How far two clocks may be apart.
_EARLIER = timedelta(days=1)

# Whose event it is: run, type, job namespace and job name, as DataZone's list has them too.
type Identity = tuple[str, str | None, str, str]


class Result(StrEnum):
    """What became of an event: there as it is here; there and failed; there otherwise; not there; never to be there."""

    EQUAL = "equal"
    FAILED = "failed"
    DIFFERENT = "different"
    MISSING = "missing"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Verified:
    """The result for one event. `differs_at` are JSON Pointers; empty where the JSON is the same and only bytes differ.

    `looked_at_all` is false where the list was longer than was looked at, so that a missing one may be there.
    """

    name: str
    result: Result
    sha256: str
    client_token: str | None = None
    lineage_event_id: str | None = None
    status: str | None = None
    differs_at: tuple[str, ...] = ()
    looked_at_all: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """An event of DataZone's that may be the one: its id, and when it says it happened."""

    lineage_event_id: str
    time: datetime | None


@dataclass(frozen=True, slots=True)
class Domain:
    """The events of one domain."""

    client: DataZoneClient
    domain_id: str

    def listed(self, after: datetime | None) -> Iterator[tuple[Identity, Candidate]]:
        """Yield whose events there are, from `after` on; raise AwsError."""
        since: dict[str, Any] = {"timestampAfter": after} if after else {}
        pages = self.client.get_paginator("list_lineage_events").paginate(
            domainIdentifier=self.domain_id, sortOrder="ASCENDING", PaginationConfig={"PageSize": PAGE}, **since
        )
        with aws.explained("DataZone"):
            for page in pages:
                for item in page["items"]:
                    run: Any = item.get("eventSummary", {}).get("openLineageRunEventSummary", {})
                    job = run.get("job", {})
                    identity = (run.get("runId"), run.get("eventType"), job.get("namespace"), job.get("name"))
                    yield identity, Candidate(item["id"], item.get("eventTime"))

    def get(self, lineage_event_id: str) -> tuple[bytes, str] | None:
        """Give an event's bytes and how far it is processed; None where there is none of that id; raise AwsError."""
        with aws.explained("DataZone"):
            try:
                got = self.client.get_lineage_event(domainIdentifier=self.domain_id, identifier=lineage_event_id)
                return got["event"].read(), got["processingStatus"]
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") == "ResourceNotFoundException":
                    return None
                raise


@dataclass(frozen=True, slots=True)
class Wanted:
    """An event to look for."""

    item: Item
    event: RunEvent
    time: datetime | None
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def identity(self) -> Identity:
        """Whose it is."""
        return self.event.run_id, self.event.event_type, self.event.job.namespace, self.event.job.name

    def may_be(self, candidate: Candidate) -> bool:
        """Say whether the times allow it; DataZone's has no parts of a second."""
        if self.time is None or candidate.time is None:
            return True
        return abs(self.time - candidate.time) < timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Where:
    """The domain, named itself or by the adapter's stack, as typed."""

    stack: str
    domain: str | None
    endpoint_url: str | None

    def open(self) -> Domain:
        """Give the domain; raise AwsError."""
        if self.domain:
            return Domain(aws.datazone(None, self.endpoint_url), self.domain)
        outputs = aws.outputs(self.stack, self.endpoint_url, "DomainId", "DomainRegion")
        return Domain(aws.datazone(outputs["DomainRegion"], self.endpoint_url), outputs["DomainId"])


@click.command(epilog="Exit status: 0 all equal, 1 some not, 2 wrong usage.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--stack", default=STACK, show_default=True, metavar="NAME", help="The adapter's CloudFormation stack.")
@click.option("--domain", metavar="ID", help="Another DataZone domain than the stack's, in the region AWS_REGION.")
@aws.endpoint_url_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event.")
@click.pass_context
def verify(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    as_json: bool,
    **given: object,
) -> None:
    """Compare what DataZone has with events as they are here, byte for byte.

    PATH is what replay takes: a file, a folder, or s3://BUCKET/archive/ with archived copies.

    An event is equal, failed (equal, but DataZone could not process it), different, missing, or refused: one that the
    adapter would not have delivered.
    """
    where = options.pick(Where, given)
    counts: Counter[str] = Counter()
    for one in verified(where.open(), Places(paths, where.endpoint_url).read()):
        click.echo(json.dumps(asdict(one)) if as_json else _line(one))
        counts[one.result] += 1
    if not as_json:
        click.echo(", ".join(f"{result} {counts[result]}" for result in Result))
    context.exit(0 if counts.total() == counts[Result.EQUAL] else 1)


def verified(domain: Domain, items: Iterable[Item]) -> Iterator[Verified]:
    """Yield the result for each of `items`: first for what needs no looking through the list."""
    wanted: list[Wanted] = []
    for item in items:
        event = accept(item.raw, FormatAssertion.WARN)
        if not isinstance(event, RunEvent):
            yield Verified(item.name, Result.REFUSED, _digest(item.raw), status=event.code.value)
        elif item.archived_as:
            yield _compared(domain, Wanted(item, event, None, [Candidate(item.archived_as, None)]))
        else:
            wanted.append(Wanted(item, event, _time(item.raw)))
    looked_at_all = not wanted or _looked_for(domain, wanted)
    for one in wanted:
        yield _compared(domain, one, looked_at_all=looked_at_all)


def _looked_for(domain: Domain, wanted: list[Wanted]) -> bool:
    """Gather the candidates for all of `wanted`; say whether the list came to its end."""
    by_identity: defaultdict[Identity, list[Wanted]] = defaultdict(list)
    for one in wanted:
        by_identity[one.identity].append(one)
    times = [one.time for one in wanted]
    after = min(time for time in times if time) - _EARLIER if all(times) else None
    listed = domain.listed(after)
    for identity, candidate in islice(listed, LOOKED_AT):
        for one in by_identity.get(identity, ()):
            if one.may_be(candidate):
                one.candidates.append(candidate)
    return next(listed, None) is None


def _compared(domain: Domain, wanted: Wanted, *, looked_at_all: bool = True) -> Verified:
    """Compare with each candidate; one that is equal and not failed is enough."""
    raw, token = wanted.item.raw, wanted.event.client_token
    best = Verified(wanted.item.name, Result.MISSING, _digest(raw), token, looked_at_all=looked_at_all)
    for candidate in wanted.candidates:
        got = domain.get(candidate.lineage_event_id)
        if got is None:
            continue
        stored, status = got
        found = Verified(best.name, Result.DIFFERENT, best.sha256, token, candidate.lineage_event_id, status)
        if stored == raw and status != Status.FAILED:
            return replace(found, result=Result.EQUAL)
        if stored == raw:
            best = replace(found, result=Result.FAILED)
        elif best.result is Result.MISSING:
            best = replace(found, differs_at=tuple(islice(_differences(raw, stored), NAMED)))
    return best


def _differences(here: bytes, there: bytes) -> Iterator[str]:
    mine, theirs = parse(here), parse(there)
    if isinstance(mine, Parsed) and isinstance(theirs, Parsed):
        yield from _differing(mine.event, theirs.event, "")
    else:
        yield ""


def _differing(here: object, there: object, path: str) -> Iterator[str]:
    """Yield where two JSON values differ, as JSON Pointers."""
    match here, there:
        case dict(), dict():
            for key in sorted(here.keys() | there.keys()):
                if key in here and key in there:
                    yield from _differing(here[key], there[key], step(path, key))
                else:
                    yield step(path, key)
        case list(), list() if len(here) == len(there):
            for index, pair in enumerate(zip(here, there, strict=True)):
                yield from _differing(*pair, step(path, index))
        case _ if type(here) is not type(there) or here != there:
            yield path


def _time(raw: bytes) -> datetime | None:
    parsed = parse(raw)
    with suppress(ValueError):
        if isinstance(parsed, Parsed):
            time = datetime.fromisoformat(str(parsed.event["eventTime"]))
            return time if time.tzinfo else time.replace(tzinfo=UTC)
    return None


def _digest(raw: bytes) -> str:
    return sha256(raw).hexdigest()


def _line(one: Verified) -> str:
    said = f"{printable(one.name)}: {one.result}"
    match one.result:
        case Result.MISSING:
            where = "" if one.looked_at_all else f"; more than the {LOOKED_AT:,} events looked at are there"
            return f"{said}, client token {one.client_token}{where}"
        case Result.REFUSED:
            return f"{said}, {one.status}"
        case Result.DIFFERENT:
            at = ", ".join(printable(place) or "the event" for place in one.differs_at) or "the bytes, not the JSON"
            return f"{said} from {one.lineage_event_id} at {at}"
        case _:
            return f"{said}, as {one.lineage_event_id}, {one.status}, SHA-256 {one.sha256}"
