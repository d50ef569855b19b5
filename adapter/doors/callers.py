"""Who sent a request, as the gateway's authorizer has found out, and what they may write.

Shapes: Amazon API Gateway developer guide, "AWS Lambda proxy integrations for HTTP APIs" and "Set up Lambda proxy
integrations". A context with `producer` can only come from adapter.doors.authorizer, one with `claims` only from the
gateway's own JWT authorizer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from adapter.model import Access, Denial
from adapter.secret import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from adapter.ingest import Records
    from adapter.producers import Producers


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who may write: to job namespaces that fit one of the patterns `namespaces`, None for all there are."""

    producer: str | None
    namespaces: tuple[str, ...] | None


class Directory(Protocol):
    """Where producers are looked up by name."""

    def producers(self) -> Producers:
        """Give all of them; raise UnreadableError."""


@dataclass(frozen=True, slots=True)
class Callers:
    """Tells callers from strangers. `claim` is the one in a JWT that names the producer."""

    access: Access
    claim: str
    directory: Directory
    records: Records

    def caller(self, authorizer: Mapping[str, Any]) -> Caller | Denial:
        """Say who the gateway's `authorizer` context is about, or why nobody is let in.

        No context is somebody who was not asked, by a route or a setting that forgot to: only an open adapter takes
        that for an answer.
        """
        match authorizer:
            case {"claims": dict() as claims}:
                return self._claimed(claims.get(self.claim))
            case {"producer": str(producer), "namespaces": str(namespaces)}:
                return Caller(producer, tuple(json.loads(namespaces)))
        return Caller(None, None) if self.access is Access.OPEN else Denial.MISSING

    def _claimed(self, name: object) -> Caller | Denial:
        try:
            producer = self.directory.producers().get(str(name))
        except UnreadableError as error:
            self.records.denied(Denial.SECRET_UNREADABLE, str(error))
            return Denial.SECRET_UNREADABLE
        if producer is None:
            # Its name is not ours: it may be anything, so it is not written down.
            self.records.denied(Denial.UNKNOWN_PRODUCER)
            return Denial.UNKNOWN_PRODUCER
        return Caller(producer.name, producer.namespaces)
