"""The fuzzer's promises, held on its seed corpus and on what hypothesis makes of it; `make fuzz` goes much further."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.seeds import dictionary, seeds
from tests.fuzz.targets import TARGETS

Edit = tuple[float, int, bytes]

WORDS = [line[1:-1].encode().replace(b"\\\\", b"\\") for line in dictionary().splitlines()]
_EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=8) | st.sampled_from(WORDS)), max_size=4
)


def _edited(seed: bytes, edits: list[Edit]) -> bytes:
    """Replace some bytes here and there: where as a share of the whole, how many, and by what."""
    for place, removed, put in edits:
        at = int(place * len(seed))
        seed = seed[:at] + put + seed[at + removed :]
    return seed


@pytest.mark.parametrize("target", TARGETS)
def test_the_promise_holds_for_every_seed(target: str) -> None:
    for seed in seeds(target):
        TARGETS[target](seed)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=600)
@given(data=st.data())
def test_the_promise_holds_for_seeds_gone_wrong(target: str, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(seeds(target)))
    TARGETS[target](_edited(seed, data.draw(_EDITS)))


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=400)
@given(data=st.binary(max_size=300))
def test_the_promise_holds_for_any_bytes(target: str, data: bytes) -> None:
    TARGETS[target](data)
