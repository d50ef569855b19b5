"""TLS in front of the AWS on this machine, which itself speaks plain HTTP: the Kinesis producer library asks for it.

    python -m tests.emitters.tls PORT

says on which port of 127.0.0.1 it listens, and passes bytes to and from PORT untouched until it is ended. Its
certificate is made for the occasion, by and for itself.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

HOST = "127.0.0.1"
PIECE = 64 * 1024
DAY = timedelta(days=1)


async def serve(port: int) -> None:
    """Listen until ended."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as directory:
        context.load_cert_chain(certificate(Path(directory)))
    server = await asyncio.start_server(partial(connected, port), HOST, 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - it is how it says so
    await server.serve_forever()


async def connected(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass both directions of one connection on."""
    inner_reader, inner_writer = await asyncio.open_connection(HOST, port)
    await asyncio.gather(passed(reader, inner_writer), passed(inner_reader, writer), return_exceptions=True)


async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on until one side has no more."""
    try:
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
    finally:
        writer.close()


def certificate(directory: Path) -> Path:
    """Make a key and its certificate, in one file in `directory`."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - DAY, now + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = directory / "tls.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(secret + made.public_bytes(Encoding.PEM))
    return file


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
