"""One event to the adapter over HTTP: its exact bytes, again while the adapter says "not now", not for ever."""

from __future__ import annotations

import gzip
import ssl
from socket import gaierror
from typing import TYPE_CHECKING

import httpx

from adapter.doors.gateway import REPLAYS
from cli import verdict
from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cli.sources import Item

# Six tries in about sixteen seconds, longer where Retry-After asks for it: a restart or a blip, not an outage.
DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0)
LONGEST_WAIT = 60.0


class StopError(Exception):
    """The replay cannot go on; the message says why and what to do. Never holds a credential."""


class Sender:
    """Posts events to `endpoint`. Safe to share among threads."""

    def __init__(
        self,
        client: httpx.Client,
        endpoint: str,
        note: Callable[[str], None],
        wait: Callable[[float], bool],
        *,
        compress: bool = False,
    ) -> None:
        """Tell `note` of each wait. `wait` waits that many seconds and is true when there is nothing to wait for."""
        self._client = client
        self._endpoint = endpoint
        self._note = note
        self._wait = wait
        self._compress = compress
        # Until the adapter has settled one event, trouble is a wrong URL rather than a bad moment.
        self._met = False

    def send(self, item: Item) -> Verdict:
        """Post `item` until it has its verdict, at most six times; what is sent twice has the same client token.

        Raise StopError when it is not the event that is wrong but the URL, the credentials or the adapter's absence.
        """
        for delay in (*DELAYS, None):
            said, asked = self._post(item)
            if asked is None or delay is None:
                break
            seconds = max(delay, asked)
            self._note(f"{item.name}: {said}; again in {seconds:g} s")
            if self._wait(seconds):
                break
        if not (said.is_final or self._met):
            raise StopError(f"nothing at {self._endpoint} takes events ({said}); check --url and that the adapter runs")
        return said

    def _post(self, item: Item) -> tuple[Verdict, float | None]:
        """Post once; give the verdict and, where sending again may help, the seconds the adapter asks to wait."""
        headers = {"Content-Type": "application/json"} | ({"Content-Encoding": "gzip"} if self._compress else {})
        headers |= {REPLAYS: item.replays} if item.replays else {}
        body = gzip.compress(item.raw, mtime=0) if self._compress else item.raw
        try:
            answer = self._client.post(self._endpoint, content=body, headers=headers)
        except httpx.TimeoutException:
            return Verdict(Outcome.FAILED, code="timeout"), 0
        except httpx.RequestError as error:
            self._check_host(error)
            return Verdict(Outcome.FAILED, code="unreachable"), 0
        return self._said(answer)

    def _said(self, answer: httpx.Response) -> tuple[Verdict, float | None]:
        said = verdict.read(answer.status_code, answer.content)
        if said is None:
            return self._unknown(answer.status_code), None
        self._met = self._met or said.is_final
        return said, None if said.is_final else _retry_after(answer)

    def _unknown(self, status: int) -> Verdict:
        if status in (401, 403):
            raise StopError(
                f"{self._endpoint} does not take these credentials ({status}); put the producer's token into the "
                "environment variable LINEAGE_ADAPTER_API_KEY"
            )
        if not self._met:
            raise StopError(f"{self._endpoint} answers {status}, and not as the adapter does; check --url")
        return Verdict(Outcome.FAILED, status, "unexpected_answer")

    def _check_host(self, error: httpx.RequestError) -> None:
        """Raise StopError where trying again is idle: a name nobody knows, a certificate nobody trusts."""
        host = httpx.URL(self._endpoint).host
        for cause in () if self._met else _causes(error):
            if isinstance(cause, gaierror):
                raise StopError(f"no such host: {host}; check --url")
            if isinstance(cause, ssl.SSLCertVerificationError):
                raise StopError(
                    f"the certificate of {host} is not trusted ({cause}); if a company's own authority "
                    "signed it, put its file's path into the environment variable SSL_CERT_FILE"
                )
            if isinstance(cause, ssl.SSLError):
                raise StopError(f"{host} does not speak TLS ({cause}); check --url, is it http://?")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(answer: httpx.Response) -> float:
    """Read Retry-After in seconds (RFC 9110 10.2.3), up to LONGEST_WAIT; its other form, a date, is not waited for."""
    asked = answer.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT) if asked.isascii() and asked.isdigit() else 0
