from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

from cli.report import Report, printable
from cli.sources import Item
from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pytest

DELIVERED = Verdict(Outcome.DELIVERED, 200)
REJECTED = Verdict(Outcome.REJECTED, 422, "schema_violation", "/run/facets/\x1b[2J/_producer")
FAILED = Verdict(Outcome.FAILED, code="timeout")


def _report(total: int | None, *verdicts: Verdict) -> Report:
    report = Report("http://adapter.example/api/v1/lineage", total)
    with report:
        for number, verdict in enumerate(verdicts):
            report.add(Item(f"{number}.json", b""), verdict)
    return report


def test_the_summary_counts_by_outcome_and_by_code() -> None:
    report = _report(20, *[DELIVERED] * 12, REJECTED, REJECTED, Verdict(Outcome.REJECTED, 400, "not_json"), FAILED)
    assert report.summary().splitlines() == [
        "delivered 12",
        "deferred   0",
        "rejected   3  schema_violation 2, not_json 1",
        "failed     1  timeout 1",
        "not sent   4",
    ]


def test_the_same_for_machines_names_each_trouble() -> None:
    report = _report(None, DELIVERED, REJECTED, FAILED)
    path = "/run/facets/\x1b[2J/_producer"
    assert json.loads(report.as_json("why", "how")) == {
        "url": "http://adapter.example/api/v1/lineage",
        "counts": {"delivered": 1, "deferred": 0, "rejected": 1, "failed": 1, "unsent": None},
        "codes": {"rejected": {"schema_violation": 1}, "failed": {"timeout": 1}},
        "troubles": [
            {"name": "1.json", "outcome": "rejected", "status": 422, "code": "schema_violation", "path": path},
            {"name": "2.json", "outcome": "failed", "status": None, "code": "timeout", "path": None},
        ],
        "stopped": "why",
        "resume": "how",
    }


def test_trouble_is_shown_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else is, where nobody watches."""
    _report(3, DELIVERED, REJECTED, FAILED)
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        r"1.json: rejected, 422 schema_violation at /run/facets/\x1b[2J/_producer",
        "2.json: failed, timeout",
    ]
    assert not shown.out


def test_where_nobody_watches_a_line_comes_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr("cli.report.time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    _report(6, *[DELIVERED] * 6)
    assert capsys.readouterr().err.splitlines() == ["3 of 6: 3 delivered", "6 of 6: 6 delivered"]


def test_a_terminal_is_not_told_what_to_do_by_other_peoples_names() -> None:
    assert printable("/run/\x1b[2J\r\udcff é") == "/run/\\x1b[2J\\r\\udcff é"
    assert printable("spark.logicalPlan 日本") == "spark.logicalPlan 日本"
