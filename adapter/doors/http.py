"""The HTTP door: an API Gateway proxy event in, the contract's answer out, always and in time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from adapter.batch import MAX_ELEMENTS, NotAnArrayError, TooManyElementsError, elements
from adapter.body import Known, opened
from adapter.doors import answers
from adapter.doors.gateway import Request, request, request_id
from adapter.model import Cause, Code, Deferred, Denial, Received, Rejected, Source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from adapter.doors.callers import Caller, Callers
    from adapter.ingest import Ingest
    from adapter.lanes import Lanes
    from adapter.model import Outcome

# Where one event is posted. The Java client posts to `/` when its URL ends in a slash; other clients name the path.
EVENT_PATHS = ("/api/v1/lineage", "/lineage", "/")
BATCH_PATH = "/api/v1/lineage/batch"
HEALTH_PATH = "/health"
# All paths of the private API begin with its stage.
HEALTH_PATHS = (HEALTH_PATH, f"/api{HEALTH_PATH}")
_PATHS = frozenset({path.rstrip("/") for path in EVENT_PATHS} | {BATCH_PATH, *HEALTH_PATHS})

# Every client gives up after 5 seconds and the whole answer is promised in 4, a cold start included. DataZone has its
# share of that, then the backlog, then the quarantine; their clients' timeouts are in bootstrap.
DELIVERY_SECONDS = 2.0
ANSWER_SECONDS = 3.5


class Backlog(Protocol):
    """Where what cannot be delivered now waits."""

    def put(self, received: Received, client_token: str | None) -> bool:
        """Keep `received`; say whether it is kept."""


@dataclass(frozen=True, slots=True)
class HttpDoor:
    """Routes, bodies and statuses of the HTTP contract."""

    ingest: Ingest
    lanes: Lanes
    backlog: Backlog
    callers: Callers

    def __call__(self, event: Mapping[str, Any], context: object) -> answers.Answer:
        """Answer one API Gateway proxy event (payload format 1.0 or 2.0) with a proxy result."""
        # Its deadline is of no interest: the promise to the client is shorter than any timeout of the function.
        started = time.monotonic()
        try:
            self.ingest.records.begin(context, request_id(event))
            asked = request(event)
            caller = self.callers.caller(asked.authorizer)
        except Exception as error:  # noqa: BLE001 - any other answer than 503 makes a client drop the event
            self.ingest.records.fault(error)
            return answers.unavailable()
        try:
            return self._route(asked, caller, started)
        except Exception as error:  # noqa: BLE001 - the bytes are here, so they are kept
            self.ingest.records.fault(error)
            if isinstance(caller, Denial):
                return answers.unavailable()
            received = Received(asked.body, Source.HTTP, **_whose(caller))
            return self._answered(received, Deferred(Cause.UNEXPECTED), started)
        finally:
            self.ingest.records.flush()

    def _route(self, asked: Request, caller: Caller | Denial, started: float) -> answers.Answer:
        if asked.path not in _PATHS:
            return answers.problem(404, "not_found", "No such path", f"events are posted to {EVENT_PATHS[0]}")
        method = "GET" if asked.path in HEALTH_PATHS else "POST"
        if asked.method != method:
            allow = {"Allow": method}
            return answers.problem(405, "method_not_allowed", "Wrong method", f"this path takes {method}", allow)
        if asked.path in HEALTH_PATHS:
            return answers.ok({"status": "ok"})
        if isinstance(caller, Denial):
            return self._denied(caller)
        return (self._batch if asked.path == BATCH_PATH else self._event)(asked, caller, started)

    def _denied(self, reason: Denial) -> answers.Answer:
        if reason is Denial.MISSING:
            # The gateway should have asked: a route or a setting is wrong, and somebody has to hear of it.
            self.ingest.records.denied(reason)
        return answers.denied(reason)

    def _event(self, asked: Request, caller: Caller, started: float) -> answers.Answer:
        known = _whose(caller)
        known["replays"] = asked.replays
        received = opened(asked.body, Source.HTTP, asked.content_encoding, **known)
        return self._answered(received, self.ingest(received, started + DELIVERY_SECONDS), started)

    def _batch(self, asked: Request, caller: Caller, started: float) -> answers.Answer:
        whole = opened(asked.body, Source.BATCH, asked.content_encoding, **_whose(caller))
        received = [whole] if whole.refused else _elements(whole)
        self.ingest.records.batch(Source.BATCH, len(received))
        outcomes = self.lanes.run(received, started + DELIVERY_SECONDS)
        if received and received[0].refused:
            return self._answered(received[0], outcomes[0], started)
        kept = self.lanes.map(lambda pair: self._kept(*pair, started), list(zip(received, outcomes, strict=True)))
        return answers.of_batch(kept)

    def _answered(self, received: Received, outcome: Outcome, started: float) -> answers.Answer:
        kept = self._kept(received, outcome, started)
        if kept is None:
            return answers.unavailable(outcome.client_token if isinstance(outcome, Deferred) else None)
        return answers.of(kept)

    def _kept(self, received: Received, outcome: Outcome, started: float) -> Outcome | None:
        """Put what has to wait somewhere durable: the backlog, or else the quarantine. None if nowhere."""
        if not isinstance(outcome, Deferred):
            return outcome
        if time.monotonic() < started + ANSWER_SECONDS:
            if self.backlog.put(received, outcome.client_token):
                return outcome
            if outcome.cause is not Cause.QUARANTINE_UNREACHABLE and self._sheltered(received, outcome):
                return outcome
        self.ingest.records.unkept(received)
        return None

    def _sheltered(self, received: Received, outcome: Deferred) -> bool:
        last = Rejected(Code.BACKLOG_UNREACHABLE, f"deferred: {outcome.cause}; the backlog did not take it")
        return isinstance(self.ingest(replace(received, refused=last), 0.0), Rejected)


def _whose(caller: Caller) -> Known:
    return {"producer": caller.producer, "namespaces": caller.namespaces}


def _elements(whole: Received) -> list[Received]:
    try:
        return [replace(whole, raw=element, packed=None) for element in elements(whole.raw)]
    except NotAnArrayError:
        refused = Rejected(Code.NOT_AN_OBJECT, "a batch is a JSON array of events")
    except TooManyElementsError:
        refused = Rejected(Code.TOO_LARGE, f"a batch is at most {MAX_ELEMENTS} events; send it in pieces")
    return [replace(whole, refused=refused)]
