"""Each alarm is fired by what should fire it, and by nothing else.

What functions say is said by their own telemetry, what AWS counts is given. `make alarms` has the same from a running
system.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from adapter.model import Call, Cause, Code, Deferred, Delivered, Denial, Outcome, Received, Rejected, Source, Times
from adapter.reconcile import Seen
from adapter.reconcile_telemetry import ReconcileTelemetry
from adapter.telemetry import Telemetry
from local.metrics import data
from local.resources import STACK
from tests.alarms.evaluation import Metric, alarms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ALARMS = alarms(Access="tokens", SilenceMinutes="60")
DOORS = (Source.HTTP, Source.BATCH, Source.KINESIS)
DELIVERED = Delivered("id", "dzd_1", "token")
HOUR = 60 * 60
STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {"Sum": sum, "Maximum": max, "SampleCount": len}
type Point = tuple[str, str, frozenset[tuple[str, str]]]


@dataclass(slots=True)
class Day:
    """What CloudWatch has got."""

    points: defaultdict[Point, list[float]] = field(default_factory=lambda: defaultdict(list))
    functions: Telemetry = field(default_factory=Telemetry)
    reconcile: ReconcileTelemetry = field(default_factory=ReconcileTelemetry)

    def events(self, outcome: Outcome, times: int = 1, door: Source = Source.HTTP) -> Day:
        received = Received(b"{}", door)
        for _ in range(times):
            self.functions.event(received, None, outcome, Times(0, 0))
        return self

    def tried(self, outcome: Outcome, seconds: float) -> Day:
        """Have the backlog try an event that came so long ago."""
        received = Received(b"{}", Source.HTTP, received_at=time.time() - seconds, waited=True)
        self.functions.event(received, None, outcome, Times(0, 0))
        return self

    def denied(self, reason: Denial, times: int = 1) -> Day:
        for _ in range(times):
            self.functions.denied(reason)
        return self

    def counted(self, namespace: str, name: str, value: float, **dimensions: str) -> Day:
        self.points[namespace, name, frozenset(dimensions.items())].append(value)
        return self

    def function(self, logical_id: str, name: str, value: float) -> Day:
        return self.counted("AWS/Lambda", name, value, FunctionName=f"{STACK}-{logical_id}")

    def queue(self, name: str, value: float, queue: str = "") -> Day:
        return self.counted("AWS/SQS", name, value, QueueName=queue or BACKLOG)

    def said(self, lines: Iterable[str]) -> None:
        for line in lines:
            for datum, value in data(line):
                self.points[datum.namespace, datum.name, frozenset(datum.dimensions)].append(value)

    def seen(self, metric: Metric) -> float | None:
        values = self.points.get((metric.namespace, metric.name, metric.dimensions))
        return STATISTICS[metric.statistic](values) if values else None


def _queue(alarm: str) -> str:
    names = [value for metric in ALARMS[alarm].metrics() for name, value in metric.dimensions if name == "QueueName"]
    (name,) = names
    return name


BACKLOG, DEAD_LETTERS = _queue("BacklogAgeAlarm"), _queue("DeadLettersAlarm")


def quiet(day: Day) -> None:
    """Nobody sends anything; what always comes goes on."""
    day.reconcile.passed(Seen(), complete=True)
    for queue in (BACKLOG, DEAD_LETTERS):
        day.queue("ApproximateNumberOfMessagesVisible", 0, queue)
    day.queue("ApproximateAgeOfOldestMessage", 0)


def good(day: Day) -> None:
    """Have a good day: a burst waits for a moment, an event is refused, a stranger is at the door, answers are slow."""
    quiet(day)
    for door in DOORS:
        day.events(DELIVERED, 10, door)
    day.events(Deferred(Cause.TIMEOUT), 3)
    for _ in range(3):
        day.tried(DELIVERED, 2300)
    day.events(Rejected(Code.SCHEMA_VIOLATION, ""))
    day.denied(Denial.UNKNOWN_TOKEN, 9)
    day.queue("ApproximateAgeOfOldestMessage", 300)
    for function, milliseconds in (
        ("HttpFunction", 3_500),
        ("KinesisFunction", 50_000),
        ("ReconcileFunction", 239_000),
    ):
        for name, value in (("Duration", milliseconds), ("Errors", 0), ("Throttles", 0)):
            day.function(function, name, value)
    day.function("KinesisFunction", "IteratorAge", 20_000)
    day.function("KinesisFunction", "Throttles", 5)


type Fault = Callable[[Day], object]

# What happens on top of a good day, and what goes off.
FAULTS: dict[str, tuple[Fault, set[str]]] = {
    "nothing": (lambda _: None, set()),
    "an emitter sends what it should not": (
        lambda day: day.events(Rejected(Code.SCHEMA_VIOLATION, ""), 5, Source.KINESIS),
        {"RejectionRateAlarm"},
    ),
    "as much of that among many good ones": (
        lambda day: day.events(DELIVERED, 100, Source.BATCH).events(Rejected(Code.TOO_LARGE, ""), 5),
        set(),
    ),
    "nothing durable takes an event": (
        lambda day: day.functions.unkept(Received(b"", Source.BATCH)),
        {"UnkeptAlarm"},
    ),
    "all tries are over": (
        lambda day: day.queue("ApproximateNumberOfMessagesVisible", 1, DEAD_LETTERS),
        {"DeadLettersAlarm"},
    ),
    "DataZone has taken nothing for an hour": (
        lambda day: day.tried(Deferred(Cause.UNAVAILABLE), HOUR + 60),
        {"BacklogAgeAlarm"},
    ),
    "the backlog is not received": (
        lambda day: day.queue("ApproximateAgeOfOldestMessage", HOUR + 1),
        {"BacklogAgeAlarm"},
    ),
    "the stream is an hour behind": (
        lambda day: day.function("KinesisFunction", "IteratorAge", (HOUR + 1) * 1000),
        {"IteratorAgeAlarm"},
    ),
    "DataZone throttles": (
        lambda day: day.events(Deferred(Cause.THROTTLED, calls=(Call(0.1, Cause.THROTTLED),))),
        {"DataZoneThrottlesAlarm"},
    ),
    "a producer's token has expired": (lambda day: day.denied(Denial.EXPIRED), {"DeniedAlarm"}),
    "a producer has no entry": (lambda day: day.denied(Denial.UNKNOWN_PRODUCER), {"DeniedAlarm"}),
    "a route asks nobody": (lambda day: day.denied(Denial.MISSING), {"DeniedAlarm"}),
    "somebody tries and tries": (lambda day: day.denied(Denial.NOT_A_TOKEN), {"DeniedAlarm"}),
    "the secret cannot be read": (lambda day: day.denied(Denial.SECRET_UNREADABLE), {"SecretUnreadableAlarm"}),
    "a function crashes": (lambda day: day.function("BacklogFunction", "Errors", 1), {"FunctionErrorsAlarm"}),
    "the authorizer crashes": (lambda day: day.function("AuthorizerFunction", "Errors", 1), {"FunctionErrorsAlarm"}),
    "the account has no concurrency left": (
        lambda day: day.function("HttpFunction", "Throttles", 1),
        {"FunctionErrorsAlarm"},
    ),
    "an exception that nobody foresaw": (lambda day: day.functions.fault(ValueError()), {"FunctionErrorsAlarm"}),
    "a request hangs": (lambda day: day.function("HttpFunction", "Duration", 9_500), {"FunctionDurationAlarm"}),
    "a function runs out of time": (
        lambda day: day.function("HttpFunction", "Duration", 10_000).function("HttpFunction", "Errors", 1),
        # Time that has run out was near its end.
        {"FunctionDurationAlarm", "FunctionErrorsAlarm"},
    ),
    "DataZone fails what it took": (
        lambda day: day.reconcile.failed(Received(b"", Source.DATAZONE), None, Rejected(Code.FAILED_IN_DATAZONE, "")),
        {"DataZoneFailedAlarm"},
    ),
    "DataZone does not finish": (
        lambda day: day.reconcile.passed(Seen(unfinished=Counter(retail=1)), complete=True),
        {"DataZoneUnfinishedAlarm"},
    ),
}


@pytest.fixture
def fired(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., set[str]]:
    """Give what names the alarms that go off when all of it happens."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", STACK)

    def after(*happenings: Fault) -> set[str]:
        day = Day()
        for happening in happenings:
            happening(day)
        day.functions.flush()
        day.said(capsys.readouterr().out.splitlines())
        return {name for name, alarm in ALARMS.items() if alarm.fires(day.seen)}

    return after


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fires_its_alarm_and_no_other(fault: str, fired: Callable[..., set[str]]) -> None:
    happens, expected = FAULTS[fault]
    assert fired(good, happens) == expected


def test_silence_is_one_too(fired: Callable[..., set[str]]) -> None:
    """A working backlog does not break it: what comes there came before."""
    assert fired(quiet) == {"SilenceAlarm"}
    assert fired(quiet, lambda day: day.tried(DELIVERED, 60)) == {"SilenceAlarm"}
    for door in DOORS:
        assert fired(quiet, lambda day, door=door: day.events(Deferred(Cause.TIMEOUT), 1, door)) == set()


def test_nobody_sees_what_datazone_makes_of_events(fired: Callable[..., set[str]]) -> None:
    """A pass that is not complete is not one."""
    assert fired(lambda day: day.events(DELIVERED)) == {"ReconcileAlarm"}
    assert fired(lambda day: day.events(DELIVERED), lambda day: day.reconcile.passed(Seen(), complete=False)) == {
        "ReconcileAlarm"
    }


def test_one_refused_event_at_night_wakes_nobody_unless_it_is_to(fired: Callable[..., set[str]]) -> None:
    def night(day: Day) -> None:
        quiet(day)
        day.events(Rejected(Code.NOT_JSON, ""))

    assert fired(night) == set()
    eager = alarms(RejectionLeast="1")["RejectionRateAlarm"]
    rejected = Metric("LineageAdapter", "Rejected", frozenset({"service": STACK, "door": "http"}.items()), "Sum")
    assert rejected in eager.metrics()
    assert eager.fires({rejected: 1.0}.get)


def test_every_alarm_has_its_fault() -> None:
    fired = set().union(*(expected for _, expected in FAULTS.values()))
    assert fired | {"SilenceAlarm", "ReconcileAlarm"} == set(ALARMS)
