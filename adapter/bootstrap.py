"""The one place that builds things: settings to clients, clients to doors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter import datazone, settings
from adapter.datazone import DataZone, Patience
from adapter.doors.http import ANSWER_SECONDS, HttpDoor
from adapter.doors.kinesis import KinesisDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapter.settings import Settings

# One attempt and the start of a second fit into what the HTTP door has.
HTTP_PATIENCE = Patience(connect=0.5, read=1.5)

# A stream can wait: several attempts for each event, yet far fewer than a shard's batch has seconds.
STREAM_PATIENCE = Patience(connect=1.0, read=5.0)
STREAM_EVENT_SECONDS = 15.0


def http(environment: Mapping[str, str]) -> HttpDoor:
    """Build the HTTP door. Raises SettingsError naming every bad variable."""
    read = settings.read(environment)
    ingest = _ingest(read, HTTP_PATIENCE)
    return HttpDoor(ingest, Lanes(ingest, read.lanes, ANSWER_SECONDS))


def kinesis(environment: Mapping[str, str]) -> KinesisDoor:
    """Build the Kinesis door. Raises SettingsError naming every bad variable."""
    read = settings.read(environment)
    ingest = _ingest(read, STREAM_PATIENCE)
    return KinesisDoor(ingest, Lanes(ingest, read.lanes, STREAM_EVENT_SECONDS))


def _ingest(read: Settings, patience: Patience) -> Ingest:
    client = datazone.client(read, patience, read.lanes)
    return Ingest(DataZone(client, read.domain_id, patience), Telemetry(), read.format_assertion)
