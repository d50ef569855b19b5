from __future__ import annotations

import gzip
import io
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from cli.sources import Item, SourceError, count, left_out, read
from tests.sample import EVENTS, index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINES = b'{"a": 1}\r\n\n  \n{"b": 2} \n{"c": 3}'
LINE_ITEMS = [(1, b'{"a": 1}'), (4, b'{"b": 2} '), (5, b'{"c": 3}')]


def _folder(path: Path, **files: bytes) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name.replace("_", ".")).write_bytes(content)
    return path


def test_a_json_file_is_one_event_of_its_exact_bytes(tmp_path: Path) -> None:
    """Line ends, white space and what is no JSON included."""
    file = tmp_path / "one.json"
    file.write_bytes(b' {"a":\r\n 1}\n\xff\n')
    assert list(read([str(file)])) == [Item(str(file), b' {"a":\r\n 1}\n\xff\n')]


@pytest.mark.parametrize("name", ["events.ndjson", "events.jsonl", "EVENTS.NDJSON"])
def test_an_ndjson_file_is_one_event_a_line_without_its_line_end(tmp_path: Path, name: str) -> None:
    """Blank lines are no events, and an event is named by its line as an editor counts them."""
    (tmp_path / name).write_bytes(LINES)
    items = list(read([str(tmp_path / name)]))
    assert items == [Item(f"{tmp_path / name}:{line}", raw) for line, raw in LINE_ITEMS]


def test_standard_input_is_one_event_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(LINES)))
    assert list(read(["-"])) == [Item(f"stdin:{line}", raw) for line, raw in LINE_ITEMS]


def test_gzip_is_undone_by_name(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "f", a_json_gz=gzip.compress(b"{}\n"), b_jsonl_gz=gzip.compress(b"1\n2\n"))
    assert [item.raw for item in read([str(folder)])] == [b"{}\n", b"1", b"2"]


def test_a_folder_is_read_below_and_in_the_order_of_names(tmp_path: Path) -> None:
    root = _folder(tmp_path / "root", b_json=b"b", d_json=b"d", notes_txt=b"no", x_event=b"x")
    _folder(root / "a", z_json=b"a")
    _folder(root / "c", z_json=b"c")
    assert [item.raw for item in read([str(root)])] == [b"a", b"b", b"c", b"d", b"x"]


def test_what_is_no_event_in_a_folder_is_left_out_and_said_so(tmp_path: Path) -> None:
    root = _folder(tmp_path / "root", a_json=b"a", index_json=b"{}", x_reason_json=b"{}", _hidden_json=b"{}")
    _folder(root / "envelopes", http_json=b"{}")
    (root / "link").symlink_to(root)
    left = ["envelopes", "index.json", "link", "x.reason.json"]
    assert [item.raw for item in read([str(root)])] == [b"a"]
    assert sorted(left_out([str(root), "-"])) == sorted(str(root / name) for name in [".hidden.json", *left])


def test_what_is_named_itself_is_read(tmp_path: Path) -> None:
    root = _folder(tmp_path / "envelopes", index_json=b"{}")
    assert [item.raw for item in read([str(root / "index.json")])] == [b"{}"]


def test_the_sample_folder_gives_exactly_the_events_of_its_index() -> None:
    names = {str(EVENTS / name) for name in index()}
    assert {item.name for item in read([str(EVENTS)])} == names
    assert count([str(EVENTS)]) == len(names)


def test_standard_input_is_not_counted() -> None:
    assert count([str(EVENTS), "-"]) is None


def _missing(path: Path) -> Path:
    return path / "missing.json"


def _other_ending(path: Path) -> Path:
    (path / "events.log").write_bytes(b"{}")
    return path / "events.log"


def _nothing_inside(path: Path) -> Path:
    return _folder(path / "empty", readme_md=b"")


def _cut_off(path: Path) -> Path:
    (path / "x.json.gz").write_bytes(gzip.compress(b"{}" * 1000)[:-9])
    return path / "x.json.gz"


def _no_gzip(path: Path) -> Path:
    (path / "x.jsonl.gz").write_bytes(b"{}")
    return path / "x.jsonl.gz"


def _damaged(path: Path) -> Path:
    whole = gzip.compress(bytes(range(256)) * 9)
    (path / "x.json.gz").write_bytes(whole[:12] + b"\xff\xff\xff" + whole[15:])
    return path / "x.json.gz"


def _dangling(path: Path) -> Path:
    root = _folder(path / "root")
    (root / "x.json").symlink_to(path / "gone")
    return root


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_missing, "no such file or folder"),
        (_other_ending, "piped in"),
        (_nothing_inside, "no .json"),
        (_cut_off, "gzip"),
        (_no_gzip, "gzip"),
        (_damaged, "gzip"),
        (_dangling, "No such file"),
    ],
)
def test_what_cannot_be_read_is_named_before_anything_is_done(
    tmp_path: Path, make: Callable[[Path], Path], says: str
) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        count([str(EVENTS / "spark"), str(make(tmp_path))])
    assert str(tmp_path) in caught.value.message
    assert caught.value.exit_code == 2


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    """A stream of any length is never held as a whole."""
    (tmp_path / "good.ndjson").write_bytes(b"1\n2\n")
    items = read([str(tmp_path / "good.ndjson"), str(tmp_path / "missing.json")])
    assert [next(items).raw, next(items).raw] == [b"1", b"2"]
    with pytest.raises(SourceError):
        next(items)
