"""DataZone's lineage events: what one domain keeps, by which rules it takes an event and how it lists them.

Rules: botocore's service model of DataZone (limits, patterns, shapes) and the API reference of PostLineageEvent,
GetLineageEvent and ListLineageEvents. Unknown outside of AWS and decided here: a token is kept for as long as the
process lives; the same token with other bytes is a ConflictException; lists are by createdAt.
"""

from __future__ import annotations

import random
import re
import string
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from moto.core.base_backend import BackendDict, BaseBackend

from local.datazone.judge import NotARunEventError, Summary, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOCAL_DOMAIN = "dzd_local"
MAX_EVENT_BYTES = 300_000
MAX_RESULTS = 50

_DOMAIN = re.compile(r"dzd[-_][a-zA-Z0-9_-]{1,36}")
_TOKEN = re.compile(r"[\x21-\x7E]{1,128}")
_IDENTIFIER = re.compile(r"[a-z0-9]{14}")
_STATUSES = ("REQUESTED", "PROCESSING", "SUCCESS", "FAILED")

# An accepted event is processed later: after this long it begins and after that it ends.
_REQUESTED = timedelta(seconds=0.3)
_PROCESSING = timedelta(seconds=0.6)


class DataZoneError(Exception):
    """What DataZone answers instead of doing its work: `code` on the wire, with `status`."""

    code = ""
    status = 0


class ValidationError(DataZoneError):
    """The request breaks a rule; the same request will break it again."""

    code = "ValidationException"
    status = 400


class AccessDeniedError(DataZoneError):
    """The request is not signed."""

    code = "AccessDeniedException"
    status = 403


class NotFoundError(DataZoneError):
    """No such domain, or no such event in it."""

    code = "ResourceNotFoundException"
    status = 404


class ConflictError(DataZoneError):
    """The token belongs to another event."""

    code = "ConflictException"
    status = 409


@dataclass(frozen=True, slots=True)
class LineageEvent:
    """An accepted event. `place` is where it stands in its domain's list; `fails` says how its processing will end."""

    place: int
    id: str
    domain_id: str
    raw: bytes
    summary: Summary
    created_at: datetime
    created_by: str
    fails: bool

    @property
    def time(self) -> datetime:
        """When it happened, as far as it says so."""
        return self.summary.time or self.created_at

    @property
    def status(self) -> str:
        """How far its processing is."""
        age = datetime.now(UTC) - self.created_at
        if age < _PROCESSING:
            return "REQUESTED" if age < _REQUESTED else "PROCESSING"
        return "FAILED" if self.fails else "SUCCESS"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events to list; None does not narrow."""

    status: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    descending: bool = False


class Domain:
    """The lineage events of one domain. Safe to share among threads."""

    def __init__(self, domain_id: str) -> None:
        """Begin with none."""
        self._id = domain_id
        self._lock = Lock()
        self._events: dict[str, LineageEvent] = {}
        self._by_token: dict[str, tuple[bytes, LineageEvent]] = {}
        self._in_order: list[LineageEvent] = []

    def post(self, raw: bytes, token: str, created_by: str, *, fails: bool = False) -> LineageEvent:
        """Keep a valid event under `token`; the same bytes under the same token are the event that is there already."""
        if len(raw) > MAX_EVENT_BYTES:
            raise ValidationError(f"the event is larger than {MAX_EVENT_BYTES} bytes")
        if not _TOKEN.fullmatch(token):
            raise ValidationError("clientToken must be 1 to 128 printable ASCII characters without spaces")
        digest = sha256(raw).digest()
        if known := self._posted(token, digest):
            return known
        summary = _judged(raw)
        with self._lock:
            # Somebody may have been quicker with the same.
            return self._posted(token, digest) or self._keep(raw, (token, digest), summary, created_by, fails=fails)

    def _posted(self, token: str, digest: bytes) -> LineageEvent | None:
        known = self._by_token.get(token)
        if known and known[0] != digest:
            raise ConflictError("this clientToken was used for another event")
        return known[1] if known else None

    def _keep(
        self, raw: bytes, under: tuple[str, bytes], summary: Summary, created_by: str, *, fails: bool
    ) -> LineageEvent:
        token, digest = under
        identifier = "".join(random.choices(string.ascii_lowercase + string.digits, k=14))  # noqa: S311 - an id, not a secret
        event = LineageEvent(
            len(self._in_order), identifier, self._id, raw, summary, datetime.now(UTC), created_by, fails
        )
        self._events[event.id] = event
        self._by_token[token] = (digest, event)
        self._in_order.append(event)
        return event

    def get(self, identifier: str) -> LineageEvent:
        """Give the event with that id."""
        if not _IDENTIFIER.fullmatch(identifier):
            raise ValidationError("identifier must be 14 lower-case letters and digits")
        if identifier not in self._events:
            raise NotFoundError("there is no such lineage event")
        return self._events[identifier]

    def list(self, wanted: Filter, limit: int, next_token: str | None) -> tuple[Sequence[LineageEvent], str | None]:
        """Give up to `limit` events that `wanted` lets through, and the token for those after them if there are any."""
        if not 1 <= limit <= MAX_RESULTS:
            raise ValidationError(f"maxResults must be 1 to {MAX_RESULTS}")
        if wanted.status not in (None, *_STATUSES):
            raise ValidationError("processingStatus is none of DataZone's")
        if next_token is not None and next_token not in self._events:
            raise ValidationError("nextToken is none that was given out")
        with self._lock:
            found = list(islice(self._matching(wanted, next_token), limit + 1))
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    def _matching(self, wanted: Filter, last_id: str | None) -> Iterator[LineageEvent]:
        low = bisect_right(self._in_order, wanted.after, key=_accepted) if wanted.after else 0
        high = bisect_left(self._in_order, wanted.before, key=_accepted) if wanted.before else len(self._in_order)
        if last_id:
            last = self._events[last_id].place
            low, high = (low, min(high, last)) if wanted.descending else (max(low, last + 1), high)
        places = reversed(range(low, high)) if wanted.descending else range(low, high)
        return (event for event in map(self._in_order.__getitem__, places) if wanted.status in (None, event.status))


class DataZoneBackend(BaseBackend):
    """One account's DataZone in one region; its only domain is LOCAL_DOMAIN."""

    def __init__(self, region_name: str, account_id: str) -> None:
        """Begin with the domain, and no events."""
        super().__init__(region_name, account_id)
        self._domains = {LOCAL_DOMAIN: Domain(LOCAL_DOMAIN)}

    def domain(self, domain_id: str) -> Domain:
        """Give the domain with that id."""
        if not _DOMAIN.fullmatch(domain_id):
            raise ValidationError("domainIdentifier must match dzd[-_][a-zA-Z0-9_-]{1,36}")
        if domain_id not in self._domains:
            raise NotFoundError("there is no such domain")
        return self._domains[domain_id]


def _judged(raw: bytes) -> Summary:
    try:
        return judge(raw)
    except NotARunEventError as error:
        raise ValidationError(str(error)) from error


def _accepted(event: LineageEvent) -> datetime:
    return event.created_at


datazone_backends = BackendDict(DataZoneBackend, "datazone")
