from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from cli.address import endpoint
from cli.main import group
from tests.sample import EVENTS

if TYPE_CHECKING:
    from pathlib import Path

SPARK = str(EVENTS / "spark")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the states of these replays away from the user's."""
    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.delenv("LINEAGE_ADAPTER_API_KEY", raising=False)


def _run(*arguments: str, key: str | None = None) -> Result:
    return CliRunner().invoke(group, ["replay", *arguments], env={"LINEAGE_ADAPTER_API_KEY": key})


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v1/lineage"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/api/v1/lineage"),
        ("https://[::1]:8443", "https://[::1]:8443/api/v1/lineage"),
        ("https://adapter.example/lineage", "https://adapter.example/lineage"),
        ("https://adapter.example/prod/api/v1/lineage", "https://adapter.example/prod/api/v1/lineage"),
    ],
)
def test_the_path_of_events_is_added_only_where_there_is_none(typed: str, meant: str) -> None:
    assert endpoint(typed) == meant


@pytest.mark.parametrize(
    "url",
    [
        "",
        "adapter.example",
        "ftp://adapter.example",
        "http://",
        "http://:80",
        "http://adapter.example:99999",
        "http://adapter.example:s3cret",
        "http://[::1",
        "http://a..example",
        "http://user:s3cret@adapter.example",
        "http://adapter.example/?key=s3cret",
        "http://adapter.example/#s3cret",
    ],
)
def test_a_wrong_url_is_a_wrong_usage_that_repeats_no_secret(url: str) -> None:
    result = _run(SPARK, "--url", url)
    assert result.exit_code == 2
    assert "--url" in result.stderr
    assert "s3cret" not in result.output


@pytest.mark.parametrize("key", ["s3cret\n", "s3cret token", "s3crét"])
def test_a_broken_token_is_a_wrong_usage_that_does_not_repeat_it(tmp_path: Path, key: str) -> None:
    file = tmp_path / "key"
    file.write_text(f"{key}\n{key}")
    for result in (
        _run(SPARK, "--url", "http://adapter.example", key=key),
        _run(SPARK, "--url", "http://adapter.example", "--api-key-file", str(file)),
    ):
        assert result.exit_code == 2
        assert "printable ASCII" in result.stderr
        assert "s3cr" not in result.output


def test_a_missing_file_is_a_wrong_usage() -> None:
    result = _run("missing.json", "--url", "http://adapter.example")
    assert (result.exit_code, result.stderr) == (2, "Error: missing.json: no such file or folder\n")


@pytest.mark.parametrize("name", ["state.ndjson", "state.json", "state.jsonl.gz"])
def test_a_state_that_would_be_read_as_events_is_a_wrong_usage(tmp_path: Path, name: str) -> None:
    """It would be sent while it grows."""
    result = _run(SPARK, "--url", "http://adapter.example", "--state", str(tmp_path / name))
    assert result.exit_code == 2
    assert "replay.state" in result.stderr


def test_a_dry_run_lists_what_would_be_sent_and_leaves_no_trace(tmp_path: Path) -> None:
    result = _run(SPARK, "--url", "http://adapter.example", "--dry-run")
    sizes = {path: path.stat().st_size for path in sorted((EVENTS / "spark").iterdir())}
    total = f"{len(sizes)} events of {sum(sizes.values()):,} bytes would go to http://adapter.example/api/v1/lineage"
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [*(f"{path}  {size:,} bytes" for path, size in sizes.items()), total]
    assert not list(tmp_path.iterdir())


def test_a_dry_run_has_no_summary() -> None:
    assert _run(SPARK, "--url", "http://adapter.example", "--dry-run", "--json").exit_code == 2


def test_an_environment_that_http_cannot_use_is_said_without_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://user:s3cret@proxy.example")
    result = _run(SPARK, "--url", "http://adapter.example")
    assert result.exit_code == 1
    assert "proxy settings cannot be used" in result.stderr
    assert "s3cret" not in result.output
