from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.state import State, StateError
from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:8080/api/v1/lineage"
DELIVERED = Verdict(Outcome.DELIVERED, 200)
REJECTED = Verdict(Outcome.REJECTED, 422, "schema_violation", "/job/äöü\n")


def _keep(path: Path, events: dict[bytes, Verdict]) -> None:
    with State(path, URL) as state:
        for raw, verdict in events.items():
            state.keep(raw, verdict)


def _known(path: Path, *events: bytes) -> list[Verdict | None]:
    with State(path, URL) as state:
        return [state.known(raw) for raw in events]


def test_what_is_finished_is_known_to_the_next_run(tmp_path: Path) -> None:
    """A failed event is not finished."""
    path = tmp_path / "deep" / "state"
    _keep(path, {b"a": DELIVERED, b"b": REJECTED, b"c": Verdict(Outcome.FAILED, code="timeout")})
    _keep(path, {b"d": Verdict(Outcome.DEFERRED, 202)})
    known = _known(path, b"a", b"b", b"c", b"d", b"e")
    assert known == [DELIVERED, REJECTED, None, Verdict(Outcome.DEFERRED, 202), None]
    assert len(State(path, URL)) == 3


def test_it_is_on_the_disk_before_the_next_event(tmp_path: Path) -> None:
    """A process killed at any time has lost nothing it has counted."""
    path = tmp_path / "state"
    with State(path, URL) as state:
        state.keep(b"a", DELIVERED)
        assert _known(path, b"a") == [DELIVERED]


def test_in_one_run_equal_events_are_all_sent(tmp_path: Path) -> None:
    with State(tmp_path / "state", URL) as state:
        state.keep(b"a", DELIVERED)
        assert state.known(b"a") is None


def test_known_events_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "state"
    _keep(path, {b"a": DELIVERED})
    before = path.read_bytes()
    _keep(path, {b"a": DELIVERED})
    assert path.read_bytes() == before


def test_a_file_cut_off_at_any_byte_is_good_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "state"
    _keep(path, {b"a": DELIVERED, b"b": REJECTED})
    whole = path.read_bytes()
    header, first, _ = (len(line) for line in whole.splitlines(keepends=True))
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert _known(path, b"a", b"b") == [DELIVERED if size >= header + first else None, None]
        _keep(path, {b"a": DELIVERED, b"b": REJECTED})
        assert path.read_bytes() == whole


def test_nothing_is_written_before_something_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "state"
    _keep(path, {b"c": Verdict(Outcome.FAILED, code="timeout")})
    assert not path.exists()


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    _keep(tmp_path / "state", {b"a": DELIVERED})
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600


def test_it_can_be_forgotten(tmp_path: Path) -> None:
    with State(tmp_path / "state", URL) as state:
        state.remove()
        state.keep(b"a", DELIVERED)
        state.remove()
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    "content",
    [
        b'{"eventType": "START"}\n',
        b'{"eventType": "START"}',
        b"[1]\n",
        b"1\n",
        b"\xff\xfe\n",
        b"\n",
        b'{"replay": "%s"}\n{"x": 1}\n' % URL.encode(),
        b'{"replay": "%s"}\nnot JSON\n' % URL.encode(),
        b'{"replay": "%s"}\n{"sha256": "xx", "outcome": "delivered", "status": 1, "code": 2, "path": 3}\n'
        % URL.encode(),
    ],
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    """A slip of the hand must not cost somebody's events."""
    path = tmp_path / "events.ndjson"
    path.write_bytes(content)
    with pytest.raises(StateError, match="not the state of a replay"):
        State(path, URL)
    assert path.read_bytes() == content


def test_another_endpoint_has_another_state(tmp_path: Path) -> None:
    """What one domain has, the next has not."""
    _keep(tmp_path / "state", {b"a": DELIVERED})
    with pytest.raises(StateError, match=f"belongs to a replay to {URL}"):
        State(tmp_path / "state", "http://other/")


def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateError, match="Is a directory"):
        State(tmp_path, URL)
    with pytest.raises(StateError, match="Not a directory"):
        State(tmp_path / "file" / "state", URL)
    with State(tmp_path / "folder" / "state", URL) as state:
        (tmp_path / "folder").write_bytes(b"")
        with pytest.raises(StateError, match="--state FILE"):
            state.keep(b"a", DELIVERED)
