"""How DataZone is posted to, on the wire: connections are kept, and each trouble has its cause."""

from __future__ import annotations

import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

import pytest

from adapter import aws, settings
from adapter.aws import Patience
from adapter.datazone import DataZone
from adapter.model import Cause, Deferred, Delivered, Job, Outcome, RunEvent
from tests.artefact import ENVIRONMENT
from tests.emitters.tls import certificate
from tests.integration.running import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    # A URL, and how long to wait if not PATIENCE.
    type Made = Callable[..., DataZone]
    # A request's head, and the connection to answer it on; False to close it.
    type Answering = Callable[[str, socket.socket], bool]

# What has to come in time has it, on a busy machine too; what is to run out does so soon.
PATIENCE = Patience(connect=5.0, read=5.0)
HASTE = Patience(connect=0.5, read=0.5)
SECONDS = 1.0


def said(body: str, *headers: str) -> bytes:
    """Give an answer with `body`."""
    return "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", body]).encode()


def taken(head: str, connection: socket.socket) -> bool:
    """Answer as DataZone does; the id is the client token's beginning, so that an answer shows whose it is."""
    [token] = [line.split(": ")[1] for line in head.splitlines() if line.lower().startswith("client-token:")]
    connection.sendall(said(f'{{"id": "{token[:14]}", "domainId": "dzd_x"}}'))
    return True


class Server(ThreadingTCPServer):
    """A server of plain sockets on this machine: what it was asked, over how many connections."""

    daemon_threads = True

    def __init__(self, answering: Answering = taken, context: ssl.SSLContext | None = None) -> None:
        self.answering = answering
        self.context = context
        self.open: list[socket.socket] = []
        self.heads: list[str] = []
        self.closed = 0
        super().__init__(("127.0.0.1", 0), _Talk)

    def url(self, host: str = "127.0.0.1") -> str:
        return f"http{'s' if self.context else ''}://{host}:{self.server_address[1]}"

    @property
    def connections(self) -> int:
        return len(self.open)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - a socket, as its own base has it
        super().shutdown_request(request)
        self.closed += 1

    def handle_error(self, *_: object) -> None:
        """Let clients break off as they like."""

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        for connection in self.open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self.server_close()


class _Talk(StreamRequestHandler):
    server: Server

    def setup(self) -> None:
        if self.server.context:
            self.request = self.server.context.wrap_socket(
                self.request, server_side=True, do_handshake_on_connect=False
            )
        self.server.open.append(self.request)
        super().setup()

    def handle(self) -> None:
        while head := self._asked():
            self.server.heads.append(head)
            if not self.server.answering(head, self.request):
                return

    def _asked(self) -> str:
        lines: list[bytes] = []
        while (line := self.rfile.readline()) not in (b"", b"\r\n"):
            lines.append(line)
        [length] = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")] or [0]
        self.rfile.read(length)
        return b"".join(lines).decode()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    for name, value in (ENVIRONMENT | keys).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def datazone(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Make a DataZone that is found at the given URL."""

    def made(url: str, patience: Patience = PATIENCE) -> DataZone:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        read = settings.read(ENVIRONMENT)
        # With a clock that stands still, there is time for one attempt and for no other.
        return DataZone(aws.datazone(read, patience), read.domain_id, SECONDS, clock=lambda: 0.0)

    return made


def post(datazone: DataZone, token: str = "0" * 64) -> Outcome:
    """Post an event."""
    event = RunEvent(b"{}", "run", Job("namespace", "name"), None, token)
    return datazone.deliver(event, SECONDS)


def test_a_connection_is_used_again(datazone: Made) -> None:
    with Server() as server:
        target = datazone(server.url())
        assert all(isinstance(post(target), Delivered) for _ in range(5))
    assert (server.connections, len(server.heads)) == (1, 5)


def test_what_the_server_has_closed_meanwhile_is_not_used(datazone: Made) -> None:
    """As after a function was frozen for longer than the server waits: no event pays for it."""
    with Server(lambda head, connection: taken(head, connection) and False) as server:
        target = datazone(server.url())
        for number in range(3):
            assert isinstance(post(target), Delivered)
            until(lambda closed=number + 1: server.closed == closed)  # type: ignore[misc]  # bound now
    assert server.connections == 3


def test_a_server_that_wants_to_close_is_connected_to_anew(datazone: Made) -> None:
    def last(_: str, connection: socket.socket) -> bool:
        connection.sendall(said('{"id": "12345678901234", "domainId": "dzd_x"}', "Connection: close"))
        return True

    with Server(last) as server:
        target = datazone(server.url())
        assert all(isinstance(post(target), Delivered) for _ in range(2))
    assert server.connections == 2


def test_threads_get_their_own_answers_and_no_more_connections_than_they_are(
    datazone: Made,
) -> None:
    with Server() as server, ThreadPoolExecutor(8) as lanes:
        target = datazone(server.url())
        tokens = [f"{number:064}"[::-1] for number in range(200)]
        outcomes = list(lanes.map(lambda token: post(target, token), tokens))
    assert [outcome.lineage_event_id for outcome in outcomes if isinstance(outcome, Delivered)] == [
        token[:14] for token in tokens
    ]
    assert server.connections <= 8


def test_an_answer_that_comes_too_late_is_nobody_else_s(datazone: Made) -> None:
    waited = Event()

    def late(head: str, connection: socket.socket) -> bool:
        if not waited.is_set():
            waited.set()
            time.sleep(HASTE.read + 0.2)
        return taken(head, connection)

    with Server(late) as server:
        target = datazone(server.url(), HASTE)
        assert post(target, "a" * 64) == Deferred(Cause.TIMEOUT, "a" * 64)
        time.sleep(0.4)
        outcome = post(target, "b" * 64)
    assert isinstance(outcome, Delivered)
    assert outcome.lineage_event_id == "b" * 14


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (b"", Cause.UNREACHABLE),
        (b"this is no HTTP\r\n\r\n", Cause.UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", Cause.UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 200 + b"\r\n", Cause.UNREACHABLE),
    ],
    ids=["nothing", "no HTTP", "half a body", "too many headers"],
)
def test_an_answer_that_is_none_defers_the_event(datazone: Made, answer: bytes, cause: Cause) -> None:
    def broken(_: str, connection: socket.socket) -> bool:
        connection.sendall(answer)
        return False

    with Server(broken) as server:
        assert post(datazone(server.url())) == Deferred(cause, "0" * 64)


def test_a_server_that_is_not_there_is_unreachable(datazone: Made) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert post(datazone(f"http://127.0.0.1:{port}")) == Deferred(Cause.UNREACHABLE, "0" * 64)


def test_a_server_that_takes_no_connection_is_a_timeout(datazone: Made) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        # Linux takes one more than it is told; what comes then waits without an answer.
        with socket.create_connection(address), socket.socket() as more:
            more.setblocking(False)  # noqa: FBT003 - the socket's own signature
            more.connect_ex(address)
            assert post(datazone(f"http://127.0.0.1:{address[1]}", HASTE)) == Deferred(Cause.TIMEOUT, "0" * 64)


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a key and its certificate, for localhost."""
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(pem: Path) -> Server:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return Server(context=context)


def test_tls_with_a_certificate_of_the_bundle_delivers(
    datazone: Made, secure: Server, pem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(pem))
    with secure:
        target = datazone(secure.url("localhost"))
        assert all(isinstance(post(target), Delivered) for _ in range(3))
    assert secure.connections == 1


def test_a_certificate_that_nobody_vouches_for_gets_nothing(datazone: Made, secure: Server) -> None:
    with secure:
        assert post(datazone(secure.url("localhost"))) == Deferred(Cause.UNREACHABLE, "0" * 64)
    assert secure.heads == []


def test_a_certificate_for_another_name_gets_nothing(
    datazone: Made, secure: Server, pem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(pem))
    with secure:
        assert post(datazone(secure.url("127.0.0.1"))) == Deferred(Cause.UNREACHABLE, "0" * 64)
    assert secure.heads == []


def test_a_proxy_of_the_environment_is_used(datazone: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server() as server:
        monkeypatch.setenv("HTTP_PROXY", server.url())
        assert isinstance(post(datazone("http://datazone.example")), Delivered)
    assert server.heads[0].startswith("POST http://datazone.example/")
