"""An HTTP door on fakes, and ways to knock at it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adapter.doors.http import EVENT_PATHS, HttpDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.model import Access, FormatAssertion
from tests.fakes import FakeBacklog, FakeLineage, FakeQuarantine, FakeTelemetry, Script, callers, delivered
from tests.hostile.bodies import envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapter.ingest import Records


class Door:
    """A door, open to all unless told otherwise; `records` is told what becomes of each event."""

    def __init__(
        self,
        access: Access = Access.OPEN,
        *,
        records: Records | None = None,
        script: Script = delivered,
        assertion: FormatAssertion = FormatAssertion.STRICT,
    ) -> None:
        self.lineage = FakeLineage(script)
        self.quarantine = FakeQuarantine()
        self.backlog = FakeBacklog()
        ingest = Ingest(self.lineage, self.quarantine, records or FakeTelemetry(), assertion)
        self.door = HttpDoor(ingest, Lanes(ingest, 4, 2.0), self.backlog, callers(access))

    def knock(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Give the whole answer to an API Gateway event."""
        return self.door(asked, None)

    def post(self, raw: bytes, path: str = EVENT_PATHS[0], **headers: str) -> tuple[int, dict[str, Any]]:
        """Post a body; give status and body of the answer."""
        answer = self.knock(envelope(raw, path, **headers))
        return answer["statusCode"], json.loads(answer["body"])
