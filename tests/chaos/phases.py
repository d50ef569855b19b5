"""One bad day after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.chaos.shipments import ALL_DOORS, HTTP_DOORS, Door

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Phase:
    """What goes wrong: `faults` as PUT to /_faults, and a function's process killed every `kill_every` seconds.

    `hopeless` says that nothing durable can be reached: its events go through the HTTP doors only, there are few of
    them, and half of their emitters give up.
    """

    name: str
    faults: Sequence[Mapping[str, object]] = ()
    kill_every: float = 2.0
    doors: Sequence[Door] = ALL_DOORS
    hopeless: bool = False


_NO_QUEUE = tuple(door for door in ALL_DOORS if door is not Door.BACKLOG)


def _sqs(**fault: object) -> Mapping[str, object]:
    return {"service": "sqs", **fault}


def _s3(**fault: object) -> Mapping[str, object]:
    return {"service": "s3", **fault}


CALM = Phase("calm", kill_every=60)
PHASES = (
    Phase("DataZone throttles", [{"status": 429, "rate": 0.5, "retry_after_ms": 150, "latency_ms": 20}]),
    Phase("DataZone fails", [{"status": 500, "rate": 0.4, "drop": 0.1}]),
    Phase("DataZone accepts and drops the answer", [{"drop_after_accept": 0.3}]),
    Phase("DataZone stalls", [{"latency_ms": 2500}]),
    Phase("DataZone denies", [{"status": 403, "rate": 0.7}]),
    Phase("the domain is gone", [{"domain_missing": True}]),
    Phase("the queue is gone", [{"status": 503, "rate": 0.5}, _sqs(status=503)], doors=_NO_QUEUE),
    Phase("the queue drops answers", [{"status": 500, "rate": 0.7}, _sqs(drop_after_accept=0.3)]),
    Phase("the bucket is gone", [_s3(status=503, rate=0.8)]),
    Phase(
        "everything is shaky",
        [
            {"status": 503, "rate": 0.3, "drop_after_accept": 0.2},
            _sqs(status=500, rate=0.15, drop_after_accept=0.1),
            _s3(status=500, rate=0.15, drop=0.1, drop_after_accept=0.1),
            {"service": "kinesis", "status": 500, "rate": 0.2, "drop_after_accept": 0.1},
        ],
    ),
    Phase("functions are killed", [{"latency_ms": 50}], kill_every=0.3),
    Phase(
        "nothing durable is left",
        [{"status": 503}, _sqs(status=503), _s3(status=503)],
        doors=HTTP_DOORS,
        hopeless=True,
    ),
)
