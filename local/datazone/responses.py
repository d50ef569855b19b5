"""DataZone's lineage operations on the wire; moto's own machinery reads and writes by botocore's service model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse

from local.datazone.models import MAX_RESULTS, Domain, Filter, LineageEvent, datazone_backends

if TYPE_CHECKING:
    from collections.abc import Mapping

# Told by a fault: how the processing of an event posted now will end.
FAILS_HEADER = "x-local-fails"


class AccessDeniedException(ServiceException):
    """The request is not signed."""

    code = "AccessDeniedException"


class DataZoneResponse(BaseResponse):
    """One request; moto calls the method that is named like the operation."""

    # An event is bytes, whatever they are.
    use_raw_body = True

    def __init__(self) -> None:
        """Have path, query and headers parsed by the service model."""
        super().__init__(service_name="datazone")
        self.automated_parameter_parsing = True

    def post_lineage_event(self) -> ActionResult:
        """Keep an event."""
        token = self._get_param("clientToken", "")
        event = self._domain().post(self.body, token, self._caller(), fails=FAILS_HEADER in self.headers)
        return ActionResult({"id": event.id, "domainId": event.domain_id})

    def get_lineage_event(self) -> ActionResult:
        """Give an event's bytes, with what is known of it in headers."""
        event = self._domain().get(self._get_param("identifier"))
        return ActionResult(_described(event) | {"event": event.raw})

    def list_lineage_events(self) -> ActionResult:
        """Give a page of what was posted."""
        wanted = Filter(
            self._get_param("processingStatus"),
            self._moment("timestampAfter"),
            self._moment("timestampBefore"),
            descending=self._get_param("sortOrder") == "DESCENDING",
        )
        limit = self._get_param("maxResults", MAX_RESULTS)
        events, next_token = self._domain().list(wanted, limit, self._get_param("nextToken"))
        return ActionResult({"items": [_summarized(event) for event in events], "nextToken": next_token})

    def _domain(self) -> Domain:
        if "Authorization" not in self.headers:
            raise AccessDeniedException("the request has no signature")
        return datazone_backends[self.current_account][self.region].domain(self._get_param("domainIdentifier", ""))

    def _moment(self, name: str) -> datetime | None:
        moment = self._get_param(name)
        # moto reads a timestamp as UTC and does not say so.
        return moment.replace(tzinfo=UTC) if moment else None

    def _caller(self) -> str:
        return f"arn:aws:iam::{self.current_account}:access-key/{self.access_key}"


def _described(event: LineageEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "domainId": event.domain_id,
        "processingStatus": event.status,
        "eventTime": event.time,
        "createdBy": event.created_by,
        "createdAt": event.created_at,
    }


def _summarized(event: LineageEvent) -> Mapping[str, Any]:
    return _described(event) | {"eventSummary": {"openLineageRunEventSummary": event.summary.run_event}}
