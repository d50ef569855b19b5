"""What Lambda is pointed at: one module a function, `handler` built once, when the container starts."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Nothing that is imported and made at a start is garbage, and looking for some while it grows is a tenth of the start.
gc.disable()


def start[Door](build: Callable[[Mapping[str, str]], Door]) -> Door:
    """Build a function's door from its environment, once; the collector never looks at what is there by then."""
    try:
        return build(os.environ)
    finally:
        gc.freeze()
        gc.enable()
