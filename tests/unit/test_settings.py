from __future__ import annotations

from dataclasses import replace

import pytest

from adapter.model import Access, FormatAssertion
from adapter.settings import VARIABLES, Settings, SettingsError, read

QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/lineage-backlog"
BUCKET = "lineage-quarantine-1a2b"
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:Producers-1a2B3c"
GOOD = {
    "DOMAIN_ID": "dzd_1a2b3c",
    "DOMAIN_REGION": "eu-central-1",
    "BACKLOG_URL": QUEUE,
    "QUARANTINE_BUCKET": BUCKET,
    "PRODUCERS_SECRET": SECRET,
}
ROLE = "arn:aws:iam::123456789012:role/lineage/Writer"


def _settings(role: str | None, assertion: FormatAssertion, lanes: int, access: Access, claim: str) -> Settings:
    return Settings("dzd_1a2b3c", "eu-central-1", role, assertion, lanes, QUEUE, BUCKET, access, SECRET, claim)


def test_five_variables_are_enough_and_let_nobody_in_without_a_token() -> None:
    assert read(GOOD) == _settings(None, FormatAssertion.STRICT, 32, Access.TOKENS, "sub")


def test_every_variable_is_read() -> None:
    more = {"DOMAIN_ROLE_ARN": ROLE, "FORMAT_ASSERTION": "warn", "LANES": "128"}
    more |= {"ACCESS": "jwt", "PRODUCER_CLAIM": "https://example.com/team", "ARCHIVE_BUCKET": "archive"}
    assert set(GOOD | more) == set(VARIABLES)
    told = _settings(ROLE, FormatAssertion.WARN, 128, Access.JWT, "https://example.com/team")
    assert read(GOOD | more) == replace(told, archive_bucket="archive")


def test_all_bad_variables_are_named_together() -> None:
    bad = {"DOMAIN_REGION": "nowhere", "DOMAIN_ROLE_ARN": "x", "FORMAT_ASSERTION": "maybe", "LANES": "0"}
    bad |= {"ACCESS": "", "PRODUCER_CLAIM": "a b", "ARCHIVE_BUCKET": "No"}
    with pytest.raises(SettingsError) as caught:
        read(bad)
    assert all(name in str(caught.value) for name in VARIABLES)


@pytest.mark.parametrize(
    "domain_id",
    ["", "bogus", "dzd", "dzd_", "dzd_" + "a" * 37, "dzd_a b", "dzd_a\n", "dzd_a/../b", "DZD_a", "dzd.a", "dzd_é"],
)
def test_a_domain_id_is_checked_against_its_pattern(domain_id: str) -> None:
    """Nothing in botocore checks it: it would post to another path."""
    with pytest.raises(SettingsError, match="DOMAIN_ID"):
        read(GOOD | {"DOMAIN_ID": domain_id})


@pytest.mark.parametrize("domain_id", ["dzd_" + "a" * 36, "dzd-4xkYz_9-Q", "dzd_0"])
def test_a_domain_id_at_the_edge_of_its_pattern_is_taken(domain_id: str) -> None:
    assert read(GOOD | {"DOMAIN_ID": domain_id}).domain_id == domain_id


@pytest.mark.parametrize("lanes", ["0", "129", "-1", "1.5", "", "032", "thirty"])
def test_lanes_are_1_to_128(lanes: str) -> None:
    with pytest.raises(SettingsError, match="LANES"):
        read(GOOD | {"LANES": lanes})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BACKLOG_URL", ""),
        ("BACKLOG_URL", "lineage-backlog"),
        ("QUARANTINE_BUCKET", ""),
        ("QUARANTINE_BUCKET", "No"),
        ("PRODUCERS_SECRET", ""),
        ("PRODUCERS_SECRET", "producers"),
    ],
)
def test_the_durable_places_and_the_secret_must_be_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        read(GOOD | {name: value})
