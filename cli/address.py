"""The adapter's address and a producer's token, as they are typed: options for every command that sends."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import click
import httpx

EVENT_PATH = "/api/v1/lineage"
API_KEY = "LINEAGE_ADAPTER_API_KEY"


def endpoint(url: str) -> str:
    """Complete `url` as the Python client does by default: with EVENT_PATH where it has no path, else as it is.

    Raise ValueError, with a message that repeats none of it, for what is not an address of the adapter.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address starts with http:// or https:// and a host")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("only scheme, host, port and path; a token goes into LINEAGE_ADAPTER_API_KEY")
    path = EVENT_PATH if parts.path in ("", "/") else parts.path
    try:
        parts.hostname.encode("idna")
        _ = parts.port  # raises where it is no number of a port
        return str(httpx.URL(urlunsplit((parts.scheme, parts.netloc, path, "", ""))))
    except (ValueError, httpx.InvalidURL):
        raise ValueError("no host or port can be called so") from None


def _url(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        return endpoint(value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


def _api_key(_: click.Context, __: click.Parameter, value: Path | None) -> str | None:
    """Read a token; neither way shows it to whoever can list this machine's processes."""
    given = value.read_text(encoding="utf-8", errors="replace").strip() if value else os.environ.get(API_KEY, "")
    if given and not re.fullmatch(r"[\x21-\x7e]+", given):
        raise click.BadParameter(f"a token, also the one in {API_KEY}, is printable ASCII without spaces or line ends.")
    return given or None


url_option = click.option(
    "--url", required=True, callback=_url, help=f"The adapter; {EVENT_PATH} is added if it has no path."
)
stack_url_option = click.option("--url", callback=_url, help="The adapter; by default the stack's output Url.")
api_key_option = click.option(
    "--api-key-file",
    "api_key",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    callback=_api_key,
    help=f"A file with the token of the producer that sends; by default what the environment has in {API_KEY}.",
)
