"""`lineage-adapter status`: what became of the events of the last hours, from the door to the end in DataZone.

The adapter's own counts are CloudWatch's and come a minute or two late. DataZone is asked itself, a page of fifty at a
time, up to LISTED events of each status.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from adapter.model import Code, Source
from adapter.processing import Processing, Status, UnansweredError
from adapter.reconcile_telemetry import most
from cli import aws
from cli.backlog import Queues, count
from cli.report import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMESPACE = "LineageAdapter"
STACK = "lineage-adapter"
LISTED = 10_000

# Where emitters come in, and where what had to wait comes in again.
_DOORS = (Source.HTTP, Source.BATCH, Source.KINESIS, Source.BACKLOG)
_OUTCOMES = ("Delivered", "Deferred", "Rejected", "Unkept")
# Seconds that DataZone is asked for, throttled or not, and that one attempt may take (cli/aws.py).
_PATIENCE, _ATTEMPT = 60.0, 35.0
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
# CloudWatch keeps minutes for 15 days and hours for longer (Amazon CloudWatch user guide, "Metrics retention").
_MINUTES_KEPT = timedelta(days=14)

# An outcome, the door it was at and, of one that is rejected, why.
type Metric = tuple[str, Source, Code | None]
type Counts = Counter[Metric]


@dataclass(frozen=True, slots=True)
class InDataZone:
    """What DataZone says: how many of each status, at least; failed ones by job namespace. `unanswered` is why not."""

    processing: int = 0
    succeeded: int = 0
    failed: int = 0
    failed_by_namespace: Mapping[str, int] | None = None
    counted_to_the_end: bool = True
    unanswered: str | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """All of it. `deferred` were put on the backlog by a door; `waiting` and `dead_letters` are there now."""

    since: str
    until: str
    received: int
    delivered: int
    deferred: int
    waiting: int
    dead_letters: int
    rejected: int
    rejected_by_code: Mapping[str, int]
    unkept: int
    datazone: InDataZone


def _span(_: click.Context, __: click.Parameter, value: str) -> timedelta:
    if not re.fullmatch(r"[1-9][0-9]{0,3}[mhd]", value):
        raise click.BadParameter("a span is a number of minutes, hours or days: 15m, 1h, 2d.")
    return timedelta(**{_UNITS[value[-1]]: int(value[:-1])})


@click.command()
@click.option(
    "--since", default="1h", show_default=True, callback=_span, metavar="SPAN", help="How far back: 15m, 1h, 2d."
)
@click.option("--stack", default=STACK, show_default=True, metavar="NAME", help="The adapter's CloudFormation stack.")
@aws.endpoint_url_option
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(since: timedelta, stack: str, endpoint_url: str | None, *, as_json: bool) -> None:
    """Show what became of the events of the last hour: received, delivered, waiting, rejected, and processed."""
    now = datetime.now(UTC)
    seen = overview(stack, endpoint_url, now - since, now)
    click.echo(json.dumps(asdict(seen), indent=2) if as_json else "\n".join(_lines(seen)))


def overview(stack: str, endpoint_url: str | None, after: datetime, now: datetime) -> Overview:
    """Ask CloudWatch, the queues and DataZone; raise AwsError."""
    outputs = aws.outputs(stack, endpoint_url, "BacklogUrl", "DeadLetterUrl", "DomainId", "DomainRegion")
    counts = counted(aws.cloudwatch(endpoint_url), stack, after, now)
    queues = count(aws.sqs(endpoint_url), Queues(outputs["BacklogUrl"], outputs["DeadLetterUrl"]), None)
    by_code = {code.value: sum(counts["Rejected", door, code] for door in _DOORS) for code in Code}
    client = aws.datazone(outputs["DomainRegion"], endpoint_url)
    return Overview(
        f"{after:%Y-%m-%dT%H:%M:%SZ}",
        f"{now:%Y-%m-%dT%H:%M:%SZ}",
        received=_received(counts),
        delivered=_all_doors(counts, "Delivered"),
        deferred=counts["Deferred", Source.HTTP, None] + counts["Deferred", Source.BATCH, None],
        waiting=queues.waiting + queues.in_flight + queues.delayed,
        dead_letters=queues.dead_letters + queues.dead_letters_in_flight,
        rejected=_all_doors(counts, "Rejected"),
        rejected_by_code={code: times for code, times in by_code.items() if times},
        unkept=_all_doors(counts, "Unkept"),
        datazone=in_datazone(Processing(client, outputs["DomainId"], _ATTEMPT), after, now),
    )


def _received(counts: Counts) -> int:
    """Add up what emitters brought. A stream gives what has to wait again, so there only its end counts."""
    at_once = sum(counts[outcome, door, None] for outcome in _OUTCOMES for door in (Source.HTTP, Source.BATCH))
    return at_once + sum(counts[outcome, Source.KINESIS, None] for outcome in ("Delivered", "Rejected"))


def _all_doors(counts: Counts, outcome: str) -> int:
    return sum(counts[outcome, door, None] for door in _DOORS)


def counted(client: Any, stack: str, after: datetime, now: datetime) -> Counts:  # noqa: ANN401 - its types are not installed
    """Read the functions' metrics back; raise AwsError."""
    meant = {f"m{number}": metric for number, metric in enumerate(_metrics())}
    period = 60 if now - after <= _MINUTES_KEPT else 3600
    queries = [
        {"Id": identifier, "MetricStat": {"Metric": _named(stack, metric), "Period": period, "Stat": "Sum"}}
        for identifier, metric in meant.items()
    ]
    counts: Counts = Counter()
    with aws.explained("CloudWatch"):
        pages = client.get_paginator("get_metric_data").paginate(
            MetricDataQueries=queries,
            StartTime=after.replace(second=0, microsecond=0),
            EndTime=now + timedelta(minutes=1),
        )
        for page in pages:
            for found in page["MetricDataResults"]:
                counts[meant[found["Id"]]] += int(sum(found["Values"]))
    return counts


def _metrics() -> Iterator[Metric]:
    for door in _DOORS:
        yield from ((outcome, door, None) for outcome in _OUTCOMES)
        yield from (("Rejected", door, code) for code in Code)


def _named(stack: str, metric: Metric) -> dict[str, Any]:
    name, door, code = metric
    dimensions = {"service": stack, "door": door.value} | ({"code": code.value} if code else {})
    return {
        "Namespace": NAMESPACE,
        "MetricName": name,
        "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
    }


def in_datazone(processing: Processing, after: datetime, now: datetime) -> InDataZone:
    """Count what DataZone has of each status. What it took after `after` is counted, whenever that happened."""
    deadline = time.monotonic() + _PATIENCE
    found: dict[Status, Counter[str]] = {}
    try:
        for status_ in Status:
            listed = processing.listed(status_, after.timestamp(), now.timestamp(), deadline)
            found[status_] = Counter(one.namespace for one in islice(listed, LISTED))
    except UnansweredError as error:
        return InDataZone(unanswered=error.cause.value)
    numbers = {status_: names.total() for status_, names in found.items()}
    return InDataZone(
        processing=numbers[Status.REQUESTED] + numbers[Status.PROCESSING],
        succeeded=numbers[Status.SUCCESS],
        failed=numbers[Status.FAILED],
        failed_by_namespace=most(found[Status.FAILED]),
        counted_to_the_end=all(number < LISTED for number in numbers.values()),
    )


def _lines(seen: Overview) -> Iterator[str]:
    yield f"from {seen.since} to {seen.until}"
    yield _line("received", seen.received)
    yield _line("delivered", seen.delivered)
    yield _line("deferred", seen.deferred, f"now {seen.waiting:,} waiting, {seen.dead_letters:,} dead letters")
    yield _line("rejected", seen.rejected)
    for code, times in sorted(seen.rejected_by_code.items(), key=lambda one: -one[1]):
        yield _line(f"  {code}", times)
    yield _line("kept by nothing", seen.unkept)
    yield from _datazone_lines(seen.datazone)


def _datazone_lines(said: InDataZone) -> Iterator[str]:
    if said.unanswered:
        yield f"DataZone does not answer: {said.unanswered}"
        return
    by_namespace = ", ".join(f"{printable(name)} {times:,}" for name, times in (said.failed_by_namespace or {}).items())
    yield _line("processing", said.processing)
    yield _line("succeeded", said.succeeded)
    yield _line("failed", said.failed, by_namespace)
    if not said.counted_to_the_end:
        yield f"DataZone was asked for {LISTED:,} events of each status; there are more."


def _line(name: str, number: int, more: str = "") -> str:
    return f"{name:<24} {number:>10,}{f'  ({more})' if more else ''}"
