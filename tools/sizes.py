"""Prints what each function's artefact weighs: `python -m tools.sizes DIRECTORY…`."""

# ruff: noqa: T201 - talks to the person who builds

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

_MEGABYTE = 1_000_000


def sizes(artefact: Path) -> tuple[int, int]:
    """Return the bytes of `artefact` as Lambda counts them, unzipped and zipped."""
    packed = io.BytesIO()
    files = [path for path in sorted(artefact.rglob("*")) if path.is_file()]
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.relative_to(artefact))
    return sum(path.stat().st_size for path in files), len(packed.getvalue())


def main(artefacts: list[Path]) -> None:
    """Print one line for each of `artefacts`."""
    for artefact in artefacts:
        unzipped, zipped = sizes(artefact)
        print(f"{artefact.name}: {unzipped / _MEGABYTE:.1f} MB unzipped, {zipped / _MEGABYTE:.1f} MB zipped")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
