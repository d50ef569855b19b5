"""What doctor makes of what it finds: states, what hangs on what, the exit status, answers and configuration."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from click.testing import CliRunner

from adapter.accept import accept
from adapter.model import RunEvent
from cli.aws import AwsError, UnseenError
from cli.doctor import answers, canary, emitters, keeping, working
from cli.doctor.deployment import Deployment
from cli.doctor.door import Door
from cli.doctor.emitters import Target
from cli.doctor.finding import Check, Finding, State, examined, exit_status, failed, not_looked_at, ok, skipped, warning
from cli.main import group
from tests.emitters import page

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://lineage.example.com"


def raising(error: Exception) -> Check:
    def look() -> Finding:
        raise error

    return Check("it", look)


def test_everything_is_looked_at_though_one_fails_except_what_hangs_on_it() -> None:
    checks = [
        Check("a", lambda: failed("no")),
        Check("b", lambda: ok("yes"), ("a",)),
        Check("c", lambda: warning("hm")),
        Check("d", lambda: ok("yes"), ("c",)),
        Check("e", lambda: ok("yes"), ("b",)),
    ]
    found = dict(examined(checks))
    assert [finding.state for finding in found.values()] == [
        State.FAILED,
        State.SKIPPED,
        State.WARNING,
        State.OK,
        State.SKIPPED,
    ]
    assert (found["b"].said, found["e"].said) == ("because a is FAILED", "because b is skipped")


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (UnseenError("access denied; your role needs x:Y"), State.NOT_LOOKED_AT),
        (AwsError("no such queue"), State.FAILED),
        (KeyError("Unheard"), State.NOT_LOOKED_AT),
    ],
)
def test_what_cannot_be_looked_at_is_never_ok(error: Exception, state: State) -> None:
    (found,) = dict(examined([raising(error)])).values()
    assert found.state is state
    if isinstance(error, AwsError):
        assert found.said == error.message


@pytest.mark.parametrize(
    ("findings", "status"),
    [
        ([ok(""), warning(""), skipped("")], 0),
        ([ok(""), not_looked_at("")], 2),
        ([not_looked_at(""), failed("")], 1),
    ],
)
def test_the_exit_status_tells_broken_from_unseen(findings: list[Finding], status: int) -> None:
    assert exit_status(findings) == status


@pytest.mark.parametrize(
    "typed",
    [
        [],
        ["--url", "https://a/prod"],
        ["--url", "nonsense"],
        ["--stack", "x", "--wait", "0"],
        ["--stack", "x", "--namespace", "n" * 300_000],
    ],
)
def test_what_makes_no_sense_is_said_at_once(typed: list[str]) -> None:
    assert CliRunner().invoke(group, ["doctor", *typed]).exit_code == 2


@pytest.mark.parametrize(
    ("status", "body", "said", "to_do"),
    [
        (401, {"message": "Unauthorized"}, "401", "JwtIssuer"),
        (403, {"message": "Forbidden"}, "403", "token list"),
        (403, {"code": "namespace_not_allowed", "quarantineKey": "quarantine/a/b.event"}, "b.event", "--namespace"),
        (403, {"code": "unknown_producer"}, "unknown_producer", "token allow"),
        (413, {"message": "Request Entity Too Large"}, "413", "check the URL"),
        (422, {"code": "refused_by_datazone"}, "422", "DataZone calls"),
        (503, {"code": "unavailable"}, "unavailable", "quarantine"),
        (503, {"message": "Service Unavailable"}, "503", "concurrency"),
        (429, {"message": "Too Many Requests"}, "429", "ThrottleRate"),
        (404, "<html>", "404", "check the URL"),
        (200, [], "200", "check the URL"),
    ],
)
def test_every_answer_is_explained(status: int, body: object, said: str, to_do: str) -> None:
    found = answers.explained(httpx.Response(status, content=json.dumps(body)), "it")
    assert found.state is State.FAILED
    assert said in found.said
    assert to_do in str(found.to_do)


def test_no_answer_is_told_from_none_in_time() -> None:
    assert "in time" in answers.unanswered(httpx.ReadTimeout("")).said
    assert "TruststoreUri" in str(answers.unanswered(httpx.ReadError("reset")).to_do)


def test_the_canary_is_valid_warns_of_nothing_and_is_another_each_time() -> None:
    one, another = (canary.event(canary.NAMESPACE) for _ in range(2))
    again = accept(one.raw)
    assert isinstance(again, RunEvent)
    assert (again.warnings, again.job.namespace) == ((), canary.NAMESPACE)
    assert one.run_id != another.run_id


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (emitters.glue, ("spark", "glue")),
        (emitters.airflow, ("airflow", "options")),
        (emitters.dbt, ("dbt", "environment")),
        (emitters.python, ("python", "http")),
    ],
)
def test_an_emitter_is_configured_as_its_page_says(text: Callable[[Target], str], at: tuple[str, str]) -> None:
    """To the letter; and without a token there is nothing of one."""
    assert text(Target(URL, with_token=True, namespace="retail")) == page.block(*at, url=URL)
    assert emitters.TOKEN not in text(Target(URL, with_token=False))


def test_every_page_named_is_there() -> None:
    for one in emitters.configurations(Target(URL, with_token=True)):
        assert (page.PAGES / f"{one.page}.md").exists()


DOCTOR = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text()
# As large as a deployment gets.
WHOLE = Deployment(
    "arn", "", datetime.now(UTC), {"ArchiveBucketName": "a", "StreamName": "s"}, {"Access": "tokens"}, ()
)


def test_every_line_is_listed_in_its_order_and_none_else() -> None:
    with httpx.Client() as client:
        door = [check.name for check in Door(client, URL, None).checks()]
    parts = [check.name for part in (keeping, working) for check in part.checks("x", WHOLE, None)]
    listed = re.findall(r"^\| `([a-z ]+)` \|", DOCTOR, re.MULTILINE)
    assert listed == ["credentials", "stack", *door, *parts, "canary"]
