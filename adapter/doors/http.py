"""The HTTP door: an API Gateway proxy event in, the contract's answer out, always and in time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter.batch import MAX_ELEMENTS, NotAnArrayError, TooManyElementsError, elements
from adapter.body import decompress
from adapter.doors import answers
from adapter.doors.gateway import Request, request
from adapter.model import Code, Received, Rejected, Source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from adapter.ingest import Ingest
    from adapter.lanes import Lanes

# Where one event is posted. The Java client posts to `/` when its URL ends in a slash; other clients name the path.
EVENT_PATHS = ("/api/v1/lineage", "/lineage", "/")
BATCH_PATH = "/api/v1/lineage/batch"
HEALTH_PATH = "/health"

# Every client gives up after 5 seconds and the whole answer is promised in 4: a cold start takes its share before this.
ANSWER_SECONDS = 2.6


@dataclass(frozen=True, slots=True)
class HttpDoor:
    """Routes, bodies and statuses of the HTTP contract."""

    ingest: Ingest
    lanes: Lanes

    def __call__(self, event: Mapping[str, Any], context: object) -> answers.Answer:
        """Answer one API Gateway proxy event (payload format 1.0 or 2.0) with a proxy result."""
        del context  # the promise to the client is shorter than any timeout of the function
        try:
            return self._route(request(event), time.monotonic() + ANSWER_SECONDS)
        except Exception as error:  # noqa: BLE001 - any other answer than 503 makes a client drop the event
            self.ingest.records.fault(error)
            return answers.unavailable()
        finally:
            self.ingest.records.flush()

    def _route(self, asked: Request, deadline: float) -> answers.Answer:
        routes = {path.rstrip("/"): ("POST", self._event) for path in EVENT_PATHS}
        routes |= {BATCH_PATH: ("POST", self._batch), HEALTH_PATH: ("GET", self._health)}
        if asked.path not in routes:
            return answers.problem(404, "not_found", "No such path", f"events are posted to {EVENT_PATHS[0]}")
        method, answer = routes[asked.path]
        if asked.method != method:
            allow = {"Allow": method}
            return answers.problem(405, "method_not_allowed", "Wrong method", f"this path takes {method}", allow)
        return answer(asked, deadline)

    def _health(self, asked: Request, deadline: float) -> answers.Answer:
        del asked, deadline
        return answers.ok({"status": "ok"})

    def _event(self, asked: Request, deadline: float) -> answers.Answer:
        raw = decompress(asked.body, asked.content_encoding)
        if isinstance(raw, Rejected):
            return answers.of(self._refuse(asked.body, Source.HTTP, raw))
        return answers.of(self.ingest(Received(raw, Source.HTTP), deadline))

    def _batch(self, asked: Request, deadline: float) -> answers.Answer:
        raw = decompress(asked.body, asked.content_encoding)
        if isinstance(raw, Rejected):
            return answers.of(self._refuse(asked.body, Source.BATCH, raw))
        try:
            received = [Received(element, Source.BATCH) for element in elements(raw)]
        except NotAnArrayError:
            refusal = Rejected(Code.NOT_AN_OBJECT, "a batch is a JSON array of events")
            return answers.of(self._refuse(raw, Source.BATCH, refusal))
        except TooManyElementsError:
            refusal = Rejected(Code.TOO_LARGE, f"a batch is at most {MAX_ELEMENTS} events; send it in pieces")
            return answers.of(self._refuse(raw, Source.BATCH, refusal))
        return answers.of_batch(self.lanes.run(received, deadline))

    def _refuse(self, raw: bytes, source: Source, rejected: Rejected) -> Rejected:
        self.ingest.record(Received(raw, source), None, rejected)
        return rejected
