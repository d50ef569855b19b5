"""The one place that builds things: settings to clients, clients to doors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter import aws, settings
from adapter.archive import Archive, Archiving
from adapter.aws import Patience
from adapter.backlog import Backlog
from adapter.breaker import Breaker
from adapter.datazone import DataZone
from adapter.doors.authorizer import Authorizer
from adapter.doors.backlog import BacklogDoor
from adapter.doors.callers import Callers
from adapter.doors.http import DELIVERY_SECONDS, HttpDoor
from adapter.doors.kinesis import KinesisDoor
from adapter.found import Found
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.memory import Remembering
from adapter.processing import Processing
from adapter.quarantine import Quarantine
from adapter.reconcile import Reconciliation
from adapter.reconcile_telemetry import ReconcileTelemetry
from adapter.secret import Secret
from adapter.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapter.ingest import Lineage
    from adapter.settings import Settings

# What the HTTP door has for DataZone is one attempt and the start of a second, then one for the backlog and one for the
# quarantine: together less than its answer may take.
HTTP_PATIENCE = Patience(connect=0.3, read=1.4)
HTTP_SHELTER_PATIENCE = Patience(connect=0.3, read=0.4)

# Whoever waits for an event's answer waits for this first, when nothing is known of its token.
SECRET_PATIENCE = Patience(connect=0.3, read=0.7)

# A stream or a queue can wait: several attempts for each event, yet far fewer than a batch has seconds.
BATCH_PATIENCE = Patience(connect=1.0, read=5.0)
BATCH_EVENT_SECONDS = 15.0


def http(environment: Mapping[str, str]) -> HttpDoor:
    """Build the HTTP door. Raises SettingsError naming every bad variable."""
    read = settings.read(environment)
    lineage = _archived(read, Breaker(_lineage(read, HTTP_PATIENCE)), HTTP_SHELTER_PATIENCE)
    ingest = _ingest(read, lineage, HTTP_SHELTER_PATIENCE)
    lanes = Lanes(ingest, read.lanes, DELIVERY_SECONDS)
    callers = Callers(read.access, read.producer_claim, _secret(read), ingest.records)
    return HttpDoor(ingest, lanes, _backlog(read, HTTP_SHELTER_PATIENCE), callers)


def authorizer(environment: Mapping[str, str]) -> Authorizer:
    """Build the gateway's authorizer. Raises SettingsError naming every bad variable."""
    return Authorizer(_secret(settings.read(environment)), Telemetry())


def kinesis(environment: Mapping[str, str]) -> KinesisDoor:
    """Build the Kinesis door. Raises SettingsError naming every bad variable."""
    read = settings.read(environment)
    ingest = _ingest(read, _remembering(read), BATCH_PATIENCE)
    return KinesisDoor(ingest, Lanes(ingest, read.lanes, BATCH_EVENT_SECONDS))


def backlog(environment: Mapping[str, str]) -> BacklogDoor:
    """Build the backlog's door. Raises SettingsError naming every bad variable."""
    read = settings.read(environment)
    ingest = _ingest(read, _remembering(read), BATCH_PATIENCE)
    return BacklogDoor(ingest, Lanes(ingest, read.lanes, BATCH_EVENT_SECONDS), _backlog(read, BATCH_PATIENCE))


def reconcile(environment: Mapping[str, str]) -> Reconciliation:
    """Build reconciliation. Raises SettingsError naming every bad variable."""
    read = settings.read(environment)
    bucket = aws.s3(read, BATCH_PATIENCE)
    return Reconciliation(
        Processing(aws.datazone(read, BATCH_PATIENCE), read.domain_id, BATCH_PATIENCE.attempt),
        Found(bucket, read.quarantine_bucket),
        Quarantine(bucket, read.quarantine_bucket, read.lanes),
        ReconcileTelemetry(),
        read.format_assertion,
    )


def _lineage(read: Settings, patience: Patience) -> DataZone:
    return DataZone(aws.datazone(read, patience), read.domain_id, patience.attempt)


def _remembering(read: Settings) -> Lineage:
    # The memory is behind the archive: an event that is given again for its copy alone does not cost DataZone a call.
    return _archived(read, Remembering(_lineage(read, BATCH_PATIENCE)), BATCH_PATIENCE)


def _archived(read: Settings, lineage: Lineage, patience: Patience) -> Lineage:
    """Put the archive before `lineage` if there is one; without, nothing is in the way."""
    if read.archive_bucket is None:
        return lineage
    return Archiving(lineage, Archive(aws.s3(read, patience), read.archive_bucket), patience.attempt)


def _ingest(read: Settings, lineage: Lineage, patience: Patience) -> Ingest:
    quarantine = Quarantine(aws.s3(read, patience), read.quarantine_bucket, read.lanes)
    return Ingest(lineage, quarantine, Telemetry(), read.format_assertion)


def _secret(read: Settings) -> Secret:
    return Secret(aws.secretsmanager(read, SECRET_PATIENCE), read.producers_secret)


def _backlog(read: Settings, patience: Patience) -> Backlog:
    return Backlog(aws.sqs(read, patience), read.backlog_url)
