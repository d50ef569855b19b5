"""Who may write: producers, the hashes of their tokens and the job namespaces that are theirs.

The document is the value of a Secrets Manager secret, written by `lineage-adapter token`:

    {"producers": {"spark": {"namespaces": ["retail", "retail-*"],
                             "tokens": [{"id": "1f2e3d4c", "sha256": "<64 hex digits>",
                                         "issued": 1764400000, "expires": 1772176000}]}}}

Times are whole seconds since 1970; `expires` may be null. A producer that comes with a JWT needs no tokens.
"""

from __future__ import annotations

import hmac
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# A name is a metric's dimension and stands in logs and lists; a JWT's claim may be an id or an address.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@|+=-]{0,127}")
# What `lineage-adapter token` issues: an id that may be shown, then 256 random bits in base64url.
TOKEN = re.compile(r"olz_([0-9a-f]{8})_[A-Za-z0-9_-]{43}")

_TOKEN_ID = re.compile(r"[0-9a-f]{8}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
# API Gateway hands them from the authorizer to the door, in a context of limited size.
MAX_NAMESPACES_BYTES = 4096


class MalformedError(Exception):
    """The document is not what `dump` writes; the message names the place and never a value."""


@dataclass(frozen=True, slots=True)
class Token:
    """One live token of a producer, as its hash. `token_id` is no secret; `expires` is None for never."""

    token_id: str
    sha256: str
    issued: int
    expires: int | None = None

    def expired(self, now: float) -> bool:
        """Say whether it is over at `now`."""
        return self.expires is not None and now >= self.expires


@dataclass(frozen=True, slots=True)
class Producer:
    """Someone who may write to the job namespaces that fit one of `namespaces` (see `fits`)."""

    name: str
    namespaces: tuple[str, ...]
    tokens: tuple[Token, ...] = ()


Producers = dict[str, Producer]


def fits(namespace: str, patterns: Iterable[str]) -> bool:
    """Say whether one of `patterns` fits the whole of `namespace`, case and all.

    `*` is any characters, also none and also slashes; `?` is exactly one; everything else, `[` included, is itself.
    """
    return any(fnmatchcase(namespace, pattern.replace("[", "[[]")) for pattern in patterns)


def holder(producers: Producers, presented: str) -> tuple[Producer, Token] | None:
    """Give whose token `presented` is, expired or not.

    Every hash is compared, each in constant time, so that how long it takes says nothing of what was presented.
    """
    digest = sha256(presented.encode()).hexdigest()
    found = None
    for producer in producers.values():
        for token in producer.tokens:
            if hmac.compare_digest(digest, token.sha256):
                found = producer, token
    return found


def dump(producers: Producers) -> str:
    """Write the document."""
    return json.dumps({"producers": {name: _told(producer) for name, producer in sorted(producers.items())}})


def load(document: str) -> Producers:
    """Read the document; raise MalformedError where any of it is not understood: then none of it is believed."""
    try:
        said = json.loads(document)
    except (ValueError, RecursionError):
        raise _malformed("the document") from None
    match said:
        case {"producers": dict() as producers, **rest} if not rest:
            return {name: _producer(name, producer) for name, producer in producers.items()}
    raise _malformed("the document")


def checked(name: str, namespaces: Sequence[str]) -> None:
    """Raise MalformedError for a name or for namespaces that no producer can have."""
    if not NAME.fullmatch(name):
        raise _malformed("a producer's name")
    if not namespaces or not all(namespaces) or len(json.dumps(namespaces)) > MAX_NAMESPACES_BYTES:
        raise _malformed("a producer's namespaces")


def _told(producer: Producer) -> dict[str, object]:
    tokens = [
        {"id": one.token_id, "sha256": one.sha256, "issued": one.issued, "expires": one.expires}
        for one in producer.tokens
    ]
    return {"namespaces": producer.namespaces, "tokens": tokens}


def _producer(name: str, said: object) -> Producer:
    match said:
        case {"namespaces": list() as namespaces, "tokens": list() as tokens, **rest} if not rest:
            if all(isinstance(one, str) for one in namespaces):
                checked(name, namespaces)
                return Producer(name, tuple(namespaces), tuple(map(_token, tokens)))
    raise _malformed("a producer")


def _token(said: Mapping[str, object]) -> Token:
    match said:
        case {
            "id": str(token_id),
            "sha256": str(digest),
            "issued": int(issued),
            "expires": None | int() as expires,
            **rest,
        } if not rest and _TOKEN_ID.fullmatch(token_id) and _DIGEST.fullmatch(digest):
            return Token(token_id, digest, issued, expires)
    raise _malformed("a token")


def _malformed(what: str) -> MalformedError:
    return MalformedError(f"{what} is not as it should be")
