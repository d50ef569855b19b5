from __future__ import annotations

import pytest

from adapter.model import FormatAssertion
from adapter.settings import VARIABLES, Settings, SettingsError, read

QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/lineage-backlog"
BUCKET = "lineage-quarantine-1a2b"
GOOD = {
    "DOMAIN_ID": "dzd_1a2b3c",
    "DOMAIN_REGION": "eu-central-1",
    "BACKLOG_URL": QUEUE,
    "QUARANTINE_BUCKET": BUCKET,
}
ROLE = "arn:aws:iam::123456789012:role/lineage/Writer"


def test_four_variables_are_enough() -> None:
    assert read(GOOD) == Settings("dzd_1a2b3c", "eu-central-1", None, FormatAssertion.STRICT, 32, QUEUE, BUCKET)


def test_every_variable_is_read() -> None:
    more = {"DOMAIN_ROLE_ARN": ROLE, "FORMAT_ASSERTION": "warn", "LANES": "128"}
    assert set(GOOD | more) == set(VARIABLES)
    assert read(GOOD | more) == Settings("dzd_1a2b3c", "eu-central-1", ROLE, FormatAssertion.WARN, 128, QUEUE, BUCKET)


def test_all_bad_variables_are_named_together() -> None:
    bad = {"DOMAIN_REGION": "nowhere", "DOMAIN_ROLE_ARN": "x", "FORMAT_ASSERTION": "maybe", "LANES": "0"}
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
    [("BACKLOG_URL", ""), ("BACKLOG_URL", "lineage-backlog"), ("QUARANTINE_BUCKET", ""), ("QUARANTINE_BUCKET", "No")],
)
def test_the_durable_places_must_be_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        read(GOOD | {name: value})
