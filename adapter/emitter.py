"""What made an event, as the event says: its `producer` (OpenLineage 2-0-2, BaseEvent), as far as it can be shown."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

UNKNOWN = "(unknown)"
# Long enough for an integration's address with its version, short enough for a log line.
MAX_LENGTH = 200


def emitter(raw: bytes) -> str:
    """Give host and path of the `producer` of the event `raw`, or UNKNOWN. Never raises.

    What may hold a credential is not told: query and fragment, and nothing of an address with a user in it. It is a
    claim of whoever sent the event, and no more to be believed than the rest of it.
    """
    try:
        producer = json.loads(raw)["producer"]
        address = urlsplit(producer)
        host, path = address.hostname, address.path
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return UNKNOWN
    if not isinstance(host, str) or "@" in producer:
        return UNKNOWN
    return f"{host}{path}"[:MAX_LENGTH]
