"""DataZone's processing of what it has taken, asked for later: a 200 from it means no more than that it has begun.

Amazon DataZone API reference, ListLineageEvents and GetLineageEvent. Neither says why an event failed.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from adapter.datazone import PASSING, not_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_datazone import DataZoneClient
    from mypy_boto3_datazone.type_defs import ListLineageEventsOutputTypeDef

    from adapter.model import Cause

# The most that ListLineageEvents gives at once.
PAGE = 50
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0


class Status(StrEnum):
    """How far DataZone is with an event."""

    REQUESTED = "REQUESTED"
    PROCESSING = "PROCESSING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Listed:
    """An event that DataZone has; `created_at` is when it took it, in seconds since 1970. `namespace` is its job's."""

    lineage_event_id: str
    created_at: float
    namespace: str


class UnansweredError(Exception):
    """DataZone or the bucket did not answer, or there was no time left to ask; `cause` says why."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.value)
        self.cause = cause


class Processing:
    """The lineage events of one domain, as they are processed."""

    def __init__(
        self,
        client: DataZoneClient,
        domain_id: str,
        attempt_seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Ask about `domain_id` through `client`; its timeouts let one attempt take at most `attempt_seconds`."""
        self._client = client
        self._domain_id = domain_id
        self._attempt_seconds = attempt_seconds
        self._clock = clock
        self._sleep = sleep

    def listed(self, status: Status, after: float, before: float, deadline: float) -> Iterator[Listed]:
        """Yield the events of that status between two moments (seconds since 1970), a page at a time.

        Raise UnansweredError where a page is not to be had by `deadline` (monotonic seconds).
        """
        page = self._page(status, after, before, None, deadline)
        while True:
            for item in page["items"]:
                run = item.get("eventSummary", {}).get("openLineageRunEventSummary", {})
                yield Listed(item["id"], item["createdAt"].timestamp(), run.get("job", {}).get("namespace", ""))
            if not page.get("nextToken"):
                return
            page = self._page(status, after, before, page["nextToken"], deadline)

    def raw(self, lineage_event_id: str, deadline: float) -> bytes:
        """Give the exact bytes of an event; raise UnansweredError."""

        def got() -> bytes:
            event = self._client.get_lineage_event(domainIdentifier=self._domain_id, identifier=lineage_event_id)
            return event["event"].read()

        return self._asked(got, deadline)

    def _page(
        self, status: Status, after: float, before: float, token: str | None, deadline: float
    ) -> ListLineageEventsOutputTypeDef:
        more = {"nextToken": token} if token else {}
        return self._asked(
            lambda: self._client.list_lineage_events(
                domainIdentifier=self._domain_id,
                processingStatus=status.value,
                timestampAfter=datetime.fromtimestamp(after, UTC),
                timestampBefore=datetime.fromtimestamp(before, UTC),
                sortOrder="ASCENDING",
                maxResults=PAGE,
                **more,
            ),
            deadline,
        )

    def _asked[T](self, call: Callable[[], T], deadline: float) -> T:
        """Ask until DataZone answers: passing troubles are waited out for as long as another attempt fits."""
        pause, wait = _FIRST_PAUSE, 0.0
        while True:
            if wait:
                self._sleep(wait)
            try:
                return call()
            except (ClientError, BotoCoreError) as error:
                trouble = not_now(error)
            wait = max(trouble.retry_after or 0.0, random.uniform(pause / 2, pause))  # noqa: S311 - jitter, not a secret
            pause = min(2 * pause, _LONGEST_PAUSE)
            if trouble.cause not in PASSING or self._clock() + wait + self._attempt_seconds > deadline:
                raise UnansweredError(trouble.cause)
