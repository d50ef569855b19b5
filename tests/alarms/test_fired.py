"""Each alarm goes off in a running system by the fault that should set it off, and by no other.

Metrics are read back from the local CloudWatch, thresholds come from template.yaml. A fault is judged by what was
counted from its beginning to its end.
"""

from __future__ import annotations

import io
import os
import secrets
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Self

import pytest
from moto.core.utils import utcnow
from moto.kinesis import models as kinesis

from adapter import backlog
from adapter.found import POSITION
from adapter.model import Received, Source
from local.console import Console
from local.datazone import models as datazone
from local.resources import STREAM
from local.system import Ports, System
from tests.alarms.bench import Bench, ours
from tests.alarms.evaluation import alarms
from tests.fakes import run_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The gateway keeps no answer, so that each denial is counted; reconciliation comes every two seconds.
PARAMETERS = {"Access": "tokens", "AuthorizerCacheSeconds": "0", "SilenceMinutes": "10", "StreamBatchWindow": "0"}
SPEED = 150
ALARMS = alarms(**PARAMETERS)
AGO = timedelta(hours=2)


class _Earlier(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) - AGO


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """Run one system for all faults: those that leave a breaker open come last."""
    system = System(Ports(0, 0), PARAMETERS, Console(io.StringIO()), SPEED)
    try:
        system.start()
        running = Bench(system)
        # Before anybody reads the secret.
        assert running.expired
        with pytest.MonkeyPatch.context() as clock:
            clock.setattr(datazone, "datetime", _Earlier)
            running.good(1)
        yield running
    finally:
        system.stop()


def _unheard() -> str:
    """Make a token that nobody has."""
    return f"olz_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}"


def a_good_day(bench: Bench) -> None:
    """Not even a refused event or a stranger at the door changes that."""
    bench.post(b"[" + b",".join(run_event(run) for run in range(10, 40)) + b"]", path="/api/v1/lineage/batch")
    bench.post(b"no JSON")
    bench.post(run_event(), _unheard())
    bench.client("kinesis").put_record(StreamName=STREAM, PartitionKey="a", Data=run_event(50))
    bench.wait_for(ours("Delivered", door="kinesis"))


def an_emitter_sends_what_it_should_not(bench: Bench) -> None:
    for _ in range(5):
        assert bench.post(b"no JSON") == 400


def a_token_has_expired(bench: Bench) -> None:
    assert bench.post(run_event(), bench.expired) == 403


def strangers_try(bench: Bench) -> None:
    for _ in range(10):
        assert bench.post(run_event(), _unheard()) == 403


def the_secret_must_not_be_read(bench: Bench) -> None:
    """Wait: to tell a stranger, the secret is read anew when it was read five seconds ago."""
    with bench.fault("secretsmanager", status=400, code="AccessDeniedException"):
        for _ in range(8):
            bench.post(run_event(), _unheard())
            time.sleep(1)
            if bench.seen(ours("AuthorizerDenied", reason="secret_unreadable")):
                break


def the_backlog_is_not_received(bench: Bench) -> None:
    with bench.waiting("late") as message:
        sent = int(message.sent_timestamp or 0) - int(AGO.total_seconds() * 1000)
        message.sent_timestamp = sent  # type: ignore[assignment]  # None until it is sent, and so moto declares it
        time.sleep(1)


def datazone_takes_nothing_for_long(bench: Bench) -> None:
    """Try an event of two hours ago, in vain."""
    body = backlog.message(Received(run_event(120), Source.HTTP, received_at=time.time() - AGO.total_seconds()), None)
    with bench.fault("datazone", status=404), bench.waiting(body) as message:
        message.delayed_until = 0
        bench.wait_for(ours("Deferred", door="backlog"))


def datazone_throttles(bench: Bench) -> None:
    """Let the stream be throttled: it has no breaker."""
    with bench.fault("datazone", status=429):
        bench.client("kinesis").put_record(StreamName=STREAM, PartitionKey="a", Data=run_event(130))
        bench.wait_for(ours("DataZoneThrottles"))


def all_tries_are_over(bench: Bench) -> None:
    with bench.waiting("dead") as message:
        message.approximate_receive_count = 15
        message.delayed_until = 0
        time.sleep(1.5)


def the_stream_is_behind(bench: Bench) -> None:
    with pytest.MonkeyPatch.context() as clock:
        clock.setattr(kinesis, "utcnow", lambda: utcnow() - AGO)
        bench.client("kinesis").put_record(StreamName=STREAM, PartitionKey="a", Data=run_event(60))
    bench.wait_for(ours("Delivered", door="kinesis"))


def datazone_fails_what_it_took(bench: Bench) -> None:
    with bench.fault("datazone", processing_fails=1.0):
        bench.good(70)
    bench.wait_for(ours("DataZoneFailed"))


def a_request_hangs(bench: Bench) -> None:
    """Take most of the ten seconds that the function has."""
    with ThreadPoolExecutor() as emitter, _stopped(bench.sandboxes("http")):
        answer = emitter.submit(bench.post, run_event(80))
        time.sleep(9.5)
    assert answer.result() == 200


@contextmanager
def _stopped(sandboxes: list[int]) -> Iterator[None]:
    for sandbox in sandboxes:
        os.kill(sandbox, signal.SIGSTOP)
    try:
        yield
    finally:
        for sandbox in sandboxes:
            with suppress(ProcessLookupError):
                os.kill(sandbox, signal.SIGCONT)


def a_function_crashes(bench: Bench) -> None:
    """Let it be the backlog's; its message comes again much later."""
    with _stopped(bench.sandboxes("backlog")), bench.waiting("x") as message:
        message.delayed_until = 0
        time.sleep(1)
        for sandbox in bench.sandboxes("backlog"):
            os.kill(sandbox, signal.SIGKILL)
        time.sleep(0.5)


def nothing_durable_takes_an_event(bench: Bench) -> None:
    down = {"status": 503}
    with bench.fault("sqs", **down), bench.fault("s3", **down), bench.fault("datazone", **down):
        assert bench.post(run_event(100)) == 503


FAULTS: dict[Callable[[Bench], None], set[str]] = {
    a_good_day: set(),
    an_emitter_sends_what_it_should_not: {"RejectionRateAlarm"},
    a_token_has_expired: {"DeniedAlarm"},
    strangers_try: {"DeniedAlarm"},
    the_secret_must_not_be_read: {"SecretUnreadableAlarm"},
    the_backlog_is_not_received: {"BacklogAgeAlarm"},
    datazone_takes_nothing_for_long: {"BacklogAgeAlarm"},
    datazone_throttles: {"DataZoneThrottlesAlarm"},
    all_tries_are_over: {"DeadLettersAlarm"},
    the_stream_is_behind: {"IteratorAgeAlarm"},
    datazone_fails_what_it_took: {"DataZoneFailedAlarm"},
    a_request_hangs: {"FunctionDurationAlarm"},
    a_function_crashes: {"FunctionErrorsAlarm"},
    nothing_durable_takes_an_event: {"UnkeptAlarm"},
}


def _fired(bench: Bench) -> set[str]:
    return {name for name, alarm in ALARMS.items() if alarm.fires(bench.seen)}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_sets_off_its_alarm_and_no_other(fault: Callable[[Bench], None], bench: Bench) -> None:
    """It happens on a day when events come and reconciliation sees how they end."""
    bench.begin()
    bench.good()
    fault(bench)
    bench.settle()
    assert _fired(bench) == FAULTS[fault]


def test_datazone_does_not_finish(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it took two hours ago is in processing; a pass that does not know where to begin looks that far back."""
    bench.begin()
    bench.good()
    monkeypatch.setattr(datazone, "_PROCESSING", timedelta(days=1))
    bench.client("s3").delete_object(Bucket=bench.outputs["QuarantineBucketName"], Key=POSITION)
    bench.wait_for(ours("DataZoneUnfinished"))
    assert _fired(bench) == {"DataZoneUnfinishedAlarm"}


def test_nobody_can_see_what_datazone_makes_of_events(bench: Bench) -> None:
    with bench.fault("datazone", status=403):
        # The second time: the first pass may have begun before.
        for _ in range(2):
            bench.begin()
            assert bench.post(run_event(140)) == 202
            bench.wait_for(ours("ReconcileIncomplete"))
        assert _fired(bench) == {"ReconcileAlarm"}


def test_nobody_sends_anything(bench: Bench) -> None:
    bench.begin()
    bench.settle()
    assert _fired(bench) == {"SilenceAlarm"}
