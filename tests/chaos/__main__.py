"""`make chaos`: bad days for the local system, under load, and an exact account of where every event went.

    N=30000 SEED=… SECONDS=1200 python -m tests.chaos

Exit status 1 when anything is wrong: an event missing, in two places, changed, or an answer that is not the contract's.
"""

from __future__ import annotations

import os
import random
import sys
import time

from tests.chaos.run import Chaos

# The backlog's two hours pass in twelve seconds.
SPEED = 600


def main() -> int:
    """Run, print the account, give the exit status."""
    events, seconds = int(os.environ.get("N", "30000")), float(os.environ.get("SECONDS", "1200"))
    seed = int(os.environ.get("SEED", random.randrange(1_000_000)))  # noqa: S311 - to be repeated, not to be secret
    print(f"SEED={seed} N={events} SECONDS={seconds:g}", flush=True)
    began = time.monotonic()
    result = Chaos(events, seed, seconds, SPEED, _say).run()
    print(f"\n\n{result.table}\n{time.monotonic() - began:,.0f} seconds", flush=True)
    for one in result.wrong:
        print(f"WRONG: {one}")
    print("Something is lost, doubled or broken." if result.wrong else "Nothing is lost, and nothing is silent.")
    return 1 if result.wrong else 0


def _say(text: str) -> None:
    """Show how it goes: in one line on a terminal."""
    print(f"\r\x1b[K{text}" if sys.stdout.isatty() else text, end="" if sys.stdout.isatty() else "\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
