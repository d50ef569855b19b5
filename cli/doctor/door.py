"""The adapter's URL as an emitter meets it: its name, the way there, its clock, and whom it lets in.

Nothing is written: what is posted is an empty batch.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from adapter.doors.http import BATCH_PATH, HEALTH_PATH
from cli.address import API_KEY
from cli.doctor import answers
from cli.doctor.finding import Check, Finding, failed, not_looked_at, ok, skipped, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

# Seconds. A door answers within 4, and every emitter gives up at 5; who looks has more patience.
PATIENCE = 15.0
# AWS general reference, "Signature Version 4": a request is good for five minutes around its time.
_CLOCK_LIMIT, _CLOCK_DOUBT = 300, 60
_DAY = 24 * 60 * 60
_CERTIFICATE_DAYS = 14

# What an API answers under a name, or from a network, that is turned off.
_CLOSED = (
    "check the URL; PublicEndpoint=disabled and TruststoreUri turn the name off that AWS gives the API, and the "
    "private API answers through its VPC endpoints only"
)

ACCESS, TOKEN = "access", "token"


@dataclass(slots=True)
class Door:
    """The adapter at `url`, which has no path. `access` is the stack's parameter of that name, where it is known.

    `health` is what it answered, and `asks` is whether it wants a token, once that is known.
    """

    client: httpx.Client
    url: str
    api_key: str | None = field(repr=False)
    access: str | None = None
    health: httpx.Response | None = None
    asks: bool | None = None

    def checks(self) -> Iterator[Check]:
        """Give what there is to look at, from the name to the token."""
        yield Check("name", self._name)
        yield Check("connection", self._connection, ("name",))
        yield Check("health", self._health, ("connection",))
        yield Check("clock", self._clock, ("health",))
        yield Check(ACCESS, self._access, ("health",))
        yield Check(TOKEN, self._token, (ACCESS,))

    def post(self, path: str, body: bytes, *, with_token: bool) -> httpx.Response:
        """Post once; raise httpx.RequestError."""
        headers = {"Content-Type": "application/json"}
        if with_token and self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return self.client.post(self.url + path, content=body, headers=headers)

    @property
    def _host(self) -> str:
        return str(urlsplit(self.url).hostname)

    @property
    def _port(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def _proxied(self) -> bool:
        return bool(getproxies().get(urlsplit(self.url).scheme)) and not proxy_bypass(self._host)

    def _name(self) -> Finding:
        if self._proxied:
            return ok(f"{self._host} is looked up by the proxy of this environment (HTTPS_PROXY)")
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except OSError as error:
            return failed(
                f"{self._host} is not known here ({error.strerror})",
                "check the URL; a HostName needs a record to the output HostTarget, and the private API's name is "
                "known inside its network only (docs/network.md)",
            )
        return ok(f"{self._host} is {', '.join(sorted({str(one[4][0]) for one in found}))}")

    def _connection(self) -> Finding:
        if self._proxied:
            return ok("through the proxy of this environment (HTTPS_PROXY)")
        try:
            with socket.create_connection((self._host, self._port), PATIENCE) as plain:
                return self._plain() if urlsplit(self.url).scheme == "http" else self._encrypted(plain)
        except ssl.SSLCertVerificationError as error:
            return failed(
                f"the certificate of {self._host} is not trusted ({error.verify_message})",
                "if a company's own authority signed it, put its file's path into SSL_CERT_FILE; if it is for another "
                "name, check the URL and HostCertificateArn",
            )
        except OSError as error:
            return failed(
                f"{self._host}:{self._port} does not let itself be connected to ({error})",
                "check the way there from this machine: firewall, proxy, VPN, security groups of a VPC endpoint; with "
                "TruststoreUri it asks for a client certificate, which this command does not have",
            )

    def _plain(self) -> Finding:
        if self._host == "localhost" or _is_loopback(self._host):
            return ok(f"port {self._port} answers, on this machine and without TLS")
        return warning(
            f"port {self._port} answers, without TLS", "give emitters the https:// address: tokens pass here"
        )

    def _encrypted(self, plain: socket.socket) -> Finding:
        context = httpx.create_ssl_context()
        with context.wrap_socket(plain, server_hostname=self._host) as encrypted:
            version, certificate = encrypted.version(), encrypted.getpeercert() or {}
        ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
        said = f"{version}, certificate until {time.strftime('%Y-%m-%d', time.gmtime(ends))}"
        if ends - time.time() < _CERTIFICATE_DAYS * _DAY:
            return warning(said, "renew the certificate: emitters stop at once when it is over")
        return ok(said)

    def _health(self) -> Finding:
        try:
            self.health = self.client.get(self.url + HEALTH_PATH)
        except httpx.RequestError as error:
            return answers.unanswered(error)
        if self.health.status_code == 200 and answers.body(self.health).get("status") == "ok":  # noqa: PLR2004 - HTTP's
            return ok(f"{self.health.elapsed.total_seconds() * 1000:,.0f} ms")
        said = answers.explained(self.health, "GET /health")
        return replace(said, to_do=_CLOSED) if self.health.status_code in (403, 404) else said

    def _clock(self) -> Finding:
        date = self.health.headers.get("Date") if self.health else None
        if date is None:
            return not_looked_at("the answer has no Date")
        ahead = time.time() - parsedate_to_datetime(date).timestamp()
        said = f"this machine's is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the adapter's"
        to_do = "set this machine's clock (NTP): AWS refuses what is signed five minutes beside its own time"
        if abs(ahead) >= _CLOCK_LIMIT:
            return failed(said, to_do)
        # A Date has whole seconds, and the answer took its time.
        return warning(said, to_do) if abs(ahead) >= _CLOCK_DOUBT else ok("the same here and there")

    def _access(self) -> Finding:
        try:
            answer = self.post(BATCH_PATH, b"[]", with_token=False)
        except httpx.RequestError as error:
            return answers.unanswered(error)
        if answer.status_code not in (200, 401):
            return answers.explained(answer, "an empty batch without a token")
        self.asks = answer.status_code != 200  # noqa: PLR2004 - HTTP's numbers are their own names
        return self._asked() if self.asks else self._open()

    def _asked(self) -> Finding:
        if self.access == "open":
            return failed(
                "asks for a token, although Access=open", "deploy again: the API is not as the template has it"
            )
        return ok("nobody is let in without a token (401)")

    def _open(self) -> Finding:
        if self.access == "open":
            return ok("open to whoever reaches the URL, as Access=open says")
        if self.access is None:
            return warning(
                "whoever reaches the URL may write lineage", "unless that is meant, deploy with Access=tokens"
            )
        return failed(
            f"lets anybody in, although Access={self.access}",
            "deploy again: the API's routes have lost their authorizer; until then whoever has the URL writes lineage",
        )

    def _token(self) -> Finding:
        if not self.asks:
            return skipped("nobody is asked for one")
        if not self.api_key:
            return not_looked_at(
                "no token is given, so nothing was tried with one",
                f"put a producer's token into the environment variable {API_KEY}, or into a file and its path into "
                "--api-key-file; docs/doctor.md makes one",
            )
        try:
            answer = self.post(BATCH_PATH, b"[]", with_token=True)
        except httpx.RequestError as error:
            return answers.unanswered(error)
        if answer.status_code == 200:  # noqa: PLR2004 - HTTP's numbers are their own names
            return ok("the given one is let in")
        return answers.explained(answer, "an empty batch with the given token")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
