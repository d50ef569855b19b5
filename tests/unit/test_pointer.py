from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adapter.pointer import MAX_LENGTH, step


def test_a_pointer_is_spelled_as_rfc_6901_has_it() -> None:
    assert step("", "a") == "/a"
    assert step("/a", 0) == "/a/0"
    assert step("/a", "m~n/o") == "/a/m~0n~1o"
    assert step("", "") == "/"
    assert step("", "~1") == "/~01"


def test_a_pointer_of_full_length_is_whole() -> None:
    assert step("", "k" * (MAX_LENGTH - 1)) == "/" + "k" * (MAX_LENGTH - 1)


@given(st.lists(st.text() | st.just("k" * 2_000_00) | st.just("…" * 600), max_size=8))
def test_no_key_makes_a_pointer_longer_than_the_bound(keys: list[str]) -> None:
    path = ""
    for key in keys:
        path = step(path, key)
        assert len(path) <= MAX_LENGTH + 1
        assert len(path) <= MAX_LENGTH or path.endswith("…")


def test_below_a_cut_it_stays_as_it_is() -> None:
    cut = step("", "k" * MAX_LENGTH)
    assert cut.endswith("…")
    assert step(cut, "more") == cut
