"""JSON Pointers (RFC 6901), bounded in length: keys come from the event and may be hostile."""

from __future__ import annotations

# Long enough for any real event (`/inputs/12/facets/columnLineage/fields/…`), short enough for a log line.
MAX_LENGTH = 512
_CUT = "…"


def step(path: str, key: str | int) -> str:
    """Go one step down from `path`: the pointer of its member or element `key`.

    A pointer longer than MAX_LENGTH characters is cut, ends in `…` and stays as it is for everything below.
    """
    if path.endswith(_CUT) and len(path) > MAX_LENGTH:
        return path
    # No more of a key than can be shown is ever escaped: a key may be as long as the event.
    shown = str(key)[: MAX_LENGTH + 1].replace("~", "~0").replace("/", "~1")
    longer = f"{path}/{shown}"
    return longer if len(longer) <= MAX_LENGTH else longer[:MAX_LENGTH] + _CUT
