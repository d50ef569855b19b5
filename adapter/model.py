"""The words every other module speaks: what came in, what was decided, what became of it.

Imports the standard library only. Everything here is immutable and crosses module borders freely.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Source(StrEnum):
    """The door an event came through; a metric dimension, so the set is closed."""

    HTTP = "http"
    BATCH = "batch"
    KINESIS = "kinesis"
    BACKLOG = "backlog"
    # Not a door: an event that DataZone had taken and could not process, got back from there.
    DATAZONE = "datazone"


class FormatAssertion(StrEnum):
    """What a broken `date-time`, `uuid` or `uri` costs: the event, or a counted warning."""

    STRICT = "strict"
    WARN = "warn"


class Access(StrEnum):
    """What the gateway asks of whoever posts: a token of ours, a JWT of the company's issuer, or nothing."""

    TOKENS = "tokens"
    JWT = "jwt"
    OPEN = "open"


class Denial(StrEnum):
    """Why somebody is not let in; a metric dimension, so the set is closed."""

    MISSING = "missing"
    NOT_A_TOKEN = "not_a_token"  # noqa: S105 - a reason, not a password
    UNKNOWN_TOKEN = "unknown_token"  # noqa: S105 - the same
    EXPIRED = "expired"
    UNKNOWN_PRODUCER = "unknown_producer"
    SECRET_UNREADABLE = "secret_unreadable"  # noqa: S105 - the same
    UNEXPECTED = "unexpected"


class Code(StrEnum):
    """Why an event was refused. Stable: emitters, metrics and runbooks spell these names."""

    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    DUPLICATE_KEY = "duplicate_key"
    TOO_DEEP = "too_deep"
    NOT_AN_OBJECT = "not_an_object"
    TOO_LARGE = "too_large"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    UNSUPPORTED_KIND = "unsupported_kind"
    SCHEMA_VIOLATION = "schema_violation"
    NAMESPACE_NOT_ALLOWED = "namespace_not_allowed"
    REFUSED_BY_DATAZONE = "refused_by_datazone"
    # After it was delivered: DataZone's own processing, which comes later, ended as FAILED.
    FAILED_IN_DATAZONE = "failed_in_datazone"
    # Not the event's fault: the last shelter of one that the backlog did not take.
    BACKLOG_UNREACHABLE = "backlog_unreachable"


class Cause(StrEnum):
    """Why an event could not be delivered *now*; a metric dimension, so the set is closed."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    ACCESS_DENIED = "access_denied"
    DOMAIN_MISSING = "domain_missing"
    QUOTA = "quota"
    CONFLICT = "conflict"
    BREAKER_OPEN = "breaker_open"
    NOT_STARTED = "not_started"
    QUARANTINE_UNREACHABLE = "quarantine_unreachable"
    # Delivered, but without its copy in the archive.
    ARCHIVE_UNREACHABLE = "archive_unreachable"
    UNEXPECTED = "unexpected"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: where (JSON Pointer, RFC 6901), which, and what it asks for. Never the value found there."""

    path: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Received:
    """One event as its emitter serialised it: transport undone, bytes untouched.

    `source` is the door it first came through and `received_at` when, in seconds since 1970; `producer` is who
    authenticated there and `namespaces` the patterns of the job namespaces that are theirs, None for all there are.
    `waited` says that it comes from the backlog. `refused` is the verdict where its door could not even unwrap it;
    `raw` is then what came. `replays` is DataZone's own id of the same bytes where it took them once and could not
    process them, and is to try anew. `packed` is how many bytes it came as where it came compressed, and `ids` is what
    the transport calls it, by the names that log lines have for that.
    """

    raw: bytes
    source: Source
    producer: str | None = None
    received_at: float = field(default_factory=time.time, compare=False)
    waited: bool = False
    refused: Rejected | None = None
    replays: str | None = None
    namespaces: tuple[str, ...] | None = None
    packed: int | None = field(default=None, compare=False)
    ids: Mapping[str, object] | None = field(default=None, compare=False)

    @property
    def door(self) -> Source:
        """The door it comes through now."""
        return Source.BACKLOG if self.waited else self.source


@dataclass(frozen=True, slots=True)
class Job:
    """An OpenLineage job: `name` is unique within `namespace`."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An accepted OpenLineage RunEvent: the exact bytes to forward and what the adapter needs to know of them.

    `client_token` is 64 lower-case hexadecimal digits. `event_type` is None where the event has none (it is optional).
    `warnings` are at most MAX_ERRORS: format violations let through by FORMAT_ASSERTION=warn, and doubtful facets.
    """

    raw: bytes
    run_id: str
    job: Job
    event_type: str | None
    client_token: str
    warnings: tuple[Violation, ...] = ()

    def replaying(self, lineage_event_id: str) -> RunEvent:
        """Give the same event under the token for another try, after DataZone could not process it as that one.

        Under its own token DataZone would answer with what it has. This one is as good against a second delivery: it
        is the same however often the same failure is replayed, and another after another failure.
        """
        token = sha256(f"{self.client_token}:{lineage_event_id}".encode()).hexdigest()
        return replace(self, client_token=token)


class Call(NamedTuple):
    """One call of DataZone's: how many seconds it took, and why it did not take the event, where that was not now."""

    seconds: float
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Delivered:
    """DataZone accepted the event. It processes it later; `lineage_event_id` is its own id for it.

    `calls` are those that were made of DataZone for it, in any outcome.
    """

    lineage_event_id: str
    domain_id: str
    client_token: str
    warnings: tuple[Violation, ...] = ()
    calls: tuple[Call, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Deferred:
    """Not now: nothing is wrong with the event. `retry_after` is DataZone's own wish, in seconds, if it had one."""

    cause: Cause
    client_token: str | None = None
    retry_after: float | None = None
    calls: tuple[Call, ...] = field(default=(), compare=False)


# A refusal names no more broken rules than a person will read.
MAX_ERRORS = 50


@dataclass(frozen=True, slots=True)
class Rejected:
    """The event's own fault: sending it again unchanged can never help.

    `errors` are in document order, at most MAX_ERRORS of them. `job` is whose event it is, as far as it can be read.
    `quarantine_key` is where its bytes are kept, once they are. `lineage_event_id` is DataZone's own id of one that it
    had taken first.
    """

    code: Code
    detail: str
    errors: tuple[Violation, ...] = ()
    job: Job | None = None
    quarantine_key: str | None = None
    lineage_event_id: str | None = None
    calls: tuple[Call, ...] = field(default=(), compare=False)


Outcome = Delivered | Deferred | Rejected


class Times(NamedTuple):
    """How many seconds it took to judge an event, and in all, until what became of it was recorded."""

    judge: float
    whole: float
