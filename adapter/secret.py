"""The Secrets Manager secret of producers, read anew when it is a minute old."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from adapter import producers

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_secretsmanager import SecretsManagerClient

# How old a copy may be that is believed without asking.
FRESH_SECONDS = 60.0
# How old when Secrets Manager cannot be asked. Its blip must cost no lineage, its outage no revocation for long.
STALE_SECONDS = 900.0

# Somebody has decided that it is not to be read; no older copy is believed against that.
_TAKEN_AWAY = frozenset({"ResourceNotFoundException", "InvalidRequestException", "AccessDeniedException"})


class UnreadableError(Exception):
    """There is no copy that may be believed; the message is botocore's name of the cause, or `malformed`."""


@dataclass(frozen=True, slots=True)
class _Copy:
    producers: producers.Producers
    read_at: float


class Secret:
    """Producers by name. An instance is a container's cache; Lambda gives a container one request at a time."""

    def __init__(self, client: SecretsManagerClient, secret_id: str, clock: Callable[[], float] = time.time) -> None:
        """Read the current version of `secret_id`. `clock` gives seconds and goes on while a container is frozen."""
        self._client = client
        self._secret_id = secret_id
        self._clock = clock
        self._copy: _Copy | None = None

    def producers(self, fresh: float = FRESH_SECONDS) -> producers.Producers:
        """Give the producers as they were at most `fresh` seconds ago.

        Where the secret cannot be read, the last copy stands until it is STALE_SECONDS old, unless the cause is that
        the secret has been taken away. Raises UnreadableError.
        """
        if self._copy is None or not self._younger(self._copy, fresh):
            self._copy = self._read()
        return self._copy.producers

    def _read(self) -> _Copy:
        asked_at = self._clock()
        try:
            value = self._client.get_secret_value(SecretId=self._secret_id, VersionStage="AWSCURRENT")
            return _Copy(producers.load(value.get("SecretString", "")), asked_at)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code"))
            return self._last(code, believed=code not in _TAKEN_AWAY)
        except BotoCoreError as error:
            return self._last(type(error).__name__)
        except producers.MalformedError:
            return self._last("malformed")

    def _last(self, cause: str, *, believed: bool = True) -> _Copy:
        if believed and self._copy is not None and self._younger(self._copy, STALE_SECONDS):
            return self._copy
        self._copy = None
        raise UnreadableError(cause)

    def _younger(self, copy: _Copy, seconds: float) -> bool:
        # A copy from the future is one whose clock has been put back: nobody knows how old it is.
        return 0 <= self._clock() - copy.read_at < seconds
