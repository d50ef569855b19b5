"""The local DataZone keeps the documented limits, patterns, idempotency, statuses and errors."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from adapter.model import FormatAssertion
from local import datazone
from local.datazone import models, wire
from tests import sample
from tests.fakes import run_event

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mypy_boto3_datazone import DataZoneClient

DOMAIN = "dzd_local"
TOKEN = "0123456789abcdef"
SIGNED = {"authorization": "AWS4-HMAC-SHA256 Credential=me/20261129/us-east-1/datazone/aws4_request, Signature=0"}
PATH = f"/v2/domains/{DOMAIN}/lineage/events"


@pytest.fixture(scope="module")
def client() -> Iterator[DataZoneClient]:
    """boto3's client, with moto between it and the network."""
    datazone.register()
    with mock_aws():
        yield boto3.client("datazone", "us-east-1", aws_access_key_id="unit", aws_secret_access_key="unit")


@pytest.fixture(autouse=True)
def _empty() -> None:
    models.datazone_backends["123456789012"]["us-east-1"].reset()


def post(client: DataZoneClient, raw: bytes, token: str = TOKEN, domain: str = DOMAIN) -> str:
    return client.post_lineage_event(domainIdentifier=domain, event=raw, clientToken=token)["id"]


def refused(client: DataZoneClient, operation: str, **arguments: Any) -> tuple[int, str]:  # noqa: ANN401 - as botocore has it
    with pytest.raises(ClientError) as caught:
        getattr(client, operation)(**{"domainIdentifier": DOMAIN, **arguments})
    response = caught.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


@pytest.mark.parametrize("path", sample.valid(), ids=lambda path: path.name)
def test_every_valid_sample_is_taken_and_comes_back_byte_for_byte(client: DataZoneClient, path: Path) -> None:
    identifier = post(client, path.read_bytes())
    assert re.fullmatch(r"[a-z0-9]{14}", identifier)
    got = client.get_lineage_event(domainIdentifier=DOMAIN, identifier=identifier)
    assert got["event"].read() == path.read_bytes()
    assert (got["id"], got["domainId"]) == (identifier, DOMAIN)
    assert abs((datetime.now(UTC) - got["createdAt"]).total_seconds()) < 5
    assert got["createdBy"].startswith("arn:aws:iam::123456789012:")


# Known is that DataZone refuses what is no JSON or breaks the schema. Nothing is known about formats, keys that occur
# twice and numbers that no double holds; the adapter is the stricter one.
STRICTER = {"format", "unique_keys"}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, expected in sample.index().items()
        if expected.status != 200 and expected.rule not in STRICTER and name != "invalid/number-beyond-double.json"
    ],
)
def test_what_breaks_the_schema_is_a_validation_exception(client: DataZoneClient, name: str) -> None:
    raw = (sample.EVENTS / name).read_bytes()
    assert refused(client, "post_lineage_event", event=raw) == (400, "ValidationException")


def test_nothing_of_an_event_is_in_the_message(client: DataZoneClient) -> None:
    with pytest.raises(ClientError) as caught:
        post(client, run_event(inputs="SECRET"))
    assert "SECRET" not in str(caught.value)
    assert "$.inputs" in str(caught.value)


def test_formats_are_not_asserted(client: DataZoneClient) -> None:
    """What the adapter lets through when told to warn is taken."""
    assert FormatAssertion.WARN
    assert post(client, run_event(eventTime="2026-11-29 10:00"))


def test_300000_bytes_are_taken_and_one_more_is_not(client: DataZoneClient) -> None:
    assert post(client, sample.padded(run_event(), 300_000), "a")
    larger = sample.padded(run_event(), 300_001)
    assert refused(client, "post_lineage_event", event=larger, clientToken="b") == (400, "ValidationException")


@pytest.mark.parametrize("token", ["x" * 129, "with space", "\xc3\xa4"])
def test_tokens_are_1_to_128_printable_characters(token: str) -> None:
    headers = {**SIGNED, "client-token": token}
    status, about, _ = wire.answer("POST", PATH, "", headers, run_event())
    assert (status, about["x-amzn-errortype"]) == (400, "ValidationException")


def test_a_token_is_needed_and_128_characters_are_allowed() -> None:
    assert wire.answer("POST", PATH, "", SIGNED, run_event())[0] == 400
    assert wire.answer("POST", PATH, "", {**SIGNED, "client-token": "~" * 128}, run_event())[0] == 200


def test_the_same_bytes_under_the_same_token_are_one_event(client: DataZoneClient) -> None:
    assert post(client, run_event(), "t") == post(client, run_event(), "t")
    assert len(client.list_lineage_events(domainIdentifier=DOMAIN)["items"]) == 1
    assert post(client, run_event(), "another") != post(client, run_event(), "t")


def test_other_bytes_under_the_same_token_are_a_conflict(client: DataZoneClient) -> None:
    post(client, run_event(1), "t")
    again = refused(client, "post_lineage_event", event=run_event(2), clientToken="t")
    assert again == (409, "ConflictException")


@pytest.mark.parametrize(
    ("domain", "answer"),
    [
        ("dzd_other", (404, "ResourceNotFoundException")),
        ("bogus", (400, "ValidationException")),
        ("dzd_" + "a" * 37, (400, "ValidationException")),
        ("", (400, "ValidationException")),
    ],
)
def test_only_the_domain_that_exists_is_found(client: DataZoneClient, domain: str, answer: tuple[int, str]) -> None:
    assert refused(client, "post_lineage_event", domainIdentifier=domain, event=run_event()) == answer


def test_an_unknown_event_is_not_found_and_an_impossible_one_invalid(client: DataZoneClient) -> None:
    assert refused(client, "get_lineage_event", identifier="a" * 14) == (404, "ResourceNotFoundException")
    assert refused(client, "get_lineage_event", identifier="UPPER") == (400, "ValidationException")


def test_a_request_without_signature_is_denied() -> None:
    status, about, body = wire.answer("POST", PATH, "", {}, run_event())
    assert (status, about["x-amzn-errortype"]) == (403, "AccessDeniedException")
    assert json.loads(body)["message"]


@pytest.mark.parametrize(("method", "path"), [("DELETE", PATH), ("GET", "/v2/domains"), ("POST", f"{PATH}/abc")])
def test_other_operations_are_not_there(method: str, path: str) -> None:
    assert wire.answer(method, path, "", SIGNED, b"")[0] == 404


def test_processing_goes_on_after_the_answer(client: DataZoneClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """REQUESTED, PROCESSING, then SUCCESS, or FAILED where that was asked for."""
    fine = post(client, run_event(1), "a")
    wire.answer("POST", PATH, "", {**SIGNED, "client-token": "b", wire.FAILS_HEADER: "1"}, run_event(2))
    domain = models.datazone_backends["123456789012"]["us-east-1"].domain(DOMAIN)
    for moment in ("_REQUESTED", "_PROCESSING"):
        monkeypatch.setattr(models, moment, timedelta(days=1))
    assert domain.get(fine).status == "REQUESTED"
    monkeypatch.setattr(models, "_REQUESTED", timedelta(0))
    assert domain.get(fine).status == "PROCESSING"
    monkeypatch.setattr(models, "_PROCESSING", timedelta(0))
    items = client.list_lineage_events(domainIdentifier=DOMAIN)["items"]
    assert [item["processingStatus"] for item in items] == ["SUCCESS", "FAILED"]
    failed = client.list_lineage_events(domainIdentifier=DOMAIN, processingStatus="FAILED")["items"]
    assert [item["id"] for item in failed] == [items[1]["id"]]


def test_a_list_says_what_each_event_is_about(client: DataZoneClient) -> None:
    dataset = {"namespace": "db://retail", "name": "orders"}
    post(client, run_event(7, inputs=[dataset], outputs=[]))
    (item,) = client.list_lineage_events(domainIdentifier=DOMAIN)["items"]
    assert item["eventTime"] == datetime(2026, 11, 29, 10, tzinfo=UTC)
    assert item["eventSummary"]["openLineageRunEventSummary"] == {
        "eventType": "COMPLETE",
        "runId": "00000000-0000-4000-8000-000000000007",
        "job": {"namespace": "retail", "name": "orders.daily"},
        "inputs": [dataset],
        "outputs": [],
    }


def test_lists_are_by_acceptance_in_either_order_and_between_two_moments(client: DataZoneClient) -> None:
    ids, moments = [], []
    for number in range(5):
        moments.append(datetime.now(UTC))
        time.sleep(0.002)
        ids.append(post(client, run_event(number), f"t{number}"))

    def listed(**wanted: Any) -> list[str]:  # noqa: ANN401 - as botocore has it
        return [item["id"] for item in client.list_lineage_events(domainIdentifier=DOMAIN, **wanted)["items"]]

    assert listed() == ids
    assert listed(sortOrder="DESCENDING") == ids[::-1]
    assert listed(timestampAfter=moments[1], timestampBefore=moments[4]) == ids[1:4]
    # None of them fails, however long this takes.
    assert listed(processingStatus="FAILED") == []


@pytest.mark.parametrize("order", ["ASCENDING", "DESCENDING"])
def test_pages_hold_at_most_50_and_miss_none(client: DataZoneClient, order: Any) -> None:  # noqa: ANN401 - a literal
    posted = {post(client, run_event(number), f"t{number}") for number in range(120)}
    pages = client.get_paginator("list_lineage_events").paginate(domainIdentifier=DOMAIN, sortOrder=order)
    found = [[item["id"] for item in page["items"]] for page in pages]
    assert [len(page) for page in found] == [50, 50, 20]
    assert {identifier for page in found for identifier in page} == posted


@pytest.mark.parametrize("wanted", [{"maxResults": 51}, {"nextToken": "nobody"}, {"processingStatus": "DONE"}])
def test_a_list_is_not_made_of_nonsense(client: DataZoneClient, wanted: dict[str, Any]) -> None:
    assert refused(client, "list_lineage_events", **wanted) == (400, "ValidationException")


@pytest.mark.parametrize("query", ["maxResults=ten", "maxResults=0", "timestampAfter=yesterday"])
def test_what_botocore_would_never_send_is_invalid_too(query: str) -> None:
    assert wire.answer("GET", PATH, query, SIGNED, b"")[0] == 400


def test_an_event_takes_little_more_than_its_judgement() -> None:
    """A load test posts tens of thousands; a list that is sorted anew for each would show here."""
    domain = models.Domain(DOMAIN)
    started = time.process_time()
    for number in range(500):
        domain.post(run_event(number), f"t{number}", "me")
    assert time.process_time() - started < 2
