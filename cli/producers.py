"""The secret of producers, changed: a token is made here, shown once, and kept as its hash only.

Secrets Manager has no conditional write, but it has one of labels: UpdateSecretVersionStage moves AWSCURRENT to another
version only from the one that is named (API reference, RemoveFromVersionId: "if the version ID does not match, then the
operation fails"). So a change is put as a version that nobody reads, and becomes the current one only if the version it
was made from still is. Where somebody was faster, it is made anew from theirs.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import uuid4

from botocore.exceptions import ClientError

from adapter import producers
from adapter.producers import Producer, Producers, Token

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_secretsmanager import SecretsManagerClient

# AWS Secrets Manager user guide, "Quotas": the length of a secret's value.
MAX_BYTES = 65_536
# A token that is over for so long is forgotten; until then a log line can say that it is over rather than unknown.
_REMEMBERED_SECONDS = 30 * 24 * 60 * 60
_TRIES = 10
_PENDING = "lineage-adapter-pending"


class ProducersError(Exception):
    """The change cannot be made; the message says why and what to do."""


class Secret:
    """The secret, seen by an operator. Everything may raise ProducersError and botocore's exceptions."""

    def __init__(self, client: SecretsManagerClient, secret_id: str) -> None:
        """Change the secret whose ARN or name is `secret_id`."""
        self._client = client
        self._secret_id = secret_id

    def producers(self) -> Producers:
        """Read them all."""
        return self._current()[0]

    def issue(self, name: str, namespaces: tuple[str, ...] = (), seconds: int | None = None) -> str:
        """Give a new token of producer `name`, good for `seconds`, None for ever.

        A new producer needs `namespaces`; one there is keeps its own and must not be given any.
        """

        def issued(known: Producers, token: Token) -> Producer:
            if name in known and namespaces:
                raise ProducersError(f"{name} is known already; `token allow` changes what it may write")
            if name not in known and not namespaces:
                raise ProducersError(f"{name} is not known yet; say what it may write with --namespace")
            producer = known.get(name) or Producer(name, namespaces)
            return replace(producer, tokens=(*producer.tokens, token))

        return self._with_token(issued, seconds)

    def rotate(self, name: str, overlap: int, seconds: int | None = None) -> str:
        """Give a new token of `name` and let all others be good for `overlap` seconds more at most."""

        def rotated(known: Producers, token: Token) -> Producer:
            producer = _known(known, name)
            last = token.issued + overlap
            ending = (replace(one, expires=min(one.expires or last, last)) for one in producer.tokens)
            return replace(producer, tokens=(*ending, token))

        return self._with_token(rotated, seconds)

    def allow(self, name: str, namespaces: tuple[str, ...]) -> None:
        """Let `name` write to `namespaces` and to nothing else; a new producer has no token yet."""

        def allowed(known: Producers) -> Producers:
            producer = known.get(name) or Producer(name, ())
            return {**known, name: replace(producer, namespaces=namespaces)}

        self._change(allowed)

    def revoke(self, name: str, token_id: str | None) -> None:
        """Forget one token of `name`, or the whole producer."""

        def revoked(known: Producers) -> Producers:
            producer = _known(known, name)
            others = {other: one for other, one in known.items() if other != name}
            if token_id is None:
                return others
            tokens = tuple(token for token in producer.tokens if token.token_id != token_id)
            if len(tokens) == len(producer.tokens):
                raise ProducersError(f"{name} has no token {token_id}; `token list` shows which it has")
            return {**others, name: replace(producer, tokens=tokens)}

        self._change(revoked)

    def _with_token(self, change: Callable[[Producers, Token], Producer], seconds: int | None) -> str:
        token_id = secrets.token_hex(4)
        presented = f"olz_{token_id}_{secrets.token_urlsafe(32)}"
        now = int(time.time())
        digest = sha256(presented.encode()).hexdigest()
        token = Token(token_id, digest, now, None if seconds is None else now + seconds)

        def changed(known: Producers) -> Producers:
            producer = change(known, token)
            return {**known, producer.name: producer}

        self._change(changed)
        return presented

    def _change(self, change: Callable[[Producers], Producers]) -> None:
        for _ in range(_TRIES):
            known, version = self._current()
            changed = {name: _tidied(producer) for name, producer in change(known).items()}
            if self._put(_document(changed), version):
                return
        raise ProducersError("others keep changing the secret; try again")

    def _current(self) -> tuple[Producers, str]:
        value = self._client.get_secret_value(SecretId=self._secret_id, VersionStage="AWSCURRENT")
        try:
            return producers.load(value.get("SecretString", "")), value["VersionId"]
        except producers.MalformedError as error:
            raise ProducersError(
                f"the secret's current value lets nobody in: {error}; mend it by hand, or give the label AWSCURRENT "
                "back to the version before (aws secretsmanager update-secret-version-stage)"
            ) from None

    def _put(self, document: str, version: str) -> bool:
        """Make `document` the current version in place of `version`; say whether that still was the current one."""
        # The label keeps Secrets Manager from deleting the version before it is the current one.
        put = self._client.put_secret_value(
            SecretId=self._secret_id,
            ClientRequestToken=str(uuid4()),
            SecretString=document,
            VersionStages=[_PENDING],
        )
        try:
            self._client.update_secret_version_stage(
                SecretId=self._secret_id,
                VersionStage="AWSCURRENT",
                MoveToVersionId=put["VersionId"],
                RemoveFromVersionId=version,
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "InvalidParameterException":
                return False
            raise
        return True


def size(known: Producers) -> int:
    """Say how many bytes of MAX_BYTES the secret has."""
    return len(producers.dump(known).encode())


def _known(known: Producers, name: str) -> Producer:
    if name not in known:
        raise ProducersError(f"{name} is not known; `token list` shows who is")
    return known[name]


def _tidied(producer: Producer) -> Producer:
    long_ago = time.time() - _REMEMBERED_SECONDS
    return replace(producer, tokens=tuple(token for token in producer.tokens if not token.expired(long_ago)))


def _document(changed: Producers) -> str:
    for producer in changed.values():
        try:
            producers.checked(producer.name, producer.namespaces)
        except producers.MalformedError as error:
            raise ProducersError(f"{error}; docs/access.md says what it can be") from None
    document = producers.dump(changed)
    if len(document.encode()) > MAX_BYTES:
        raise ProducersError(f"the secret would be larger than {MAX_BYTES:,} bytes; revoke tokens that nobody uses")
    return document
