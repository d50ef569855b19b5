"""After the storm: wait until everything has come to rest, and see where it is."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from local.datazone.models import LOCAL_DOMAIN
from tests.chaos.account import Found
from tests.chaos.emitters import PATH, queues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

    from tests.chaos.stand import Stand

_SHELTER = "backlog_unreachable"
_GLANCE = 0.5
_AT_A_TIME = 8
_COUNTS = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class Rest:
    """The places where events come to rest, and those where they wait before."""

    def __init__(self, stand: Stand) -> None:
        """Look at `stand`, from which all faults are gone."""
        self._netloc = urlsplit(stand.running.url).netloc
        self._sqs = stand.client("sqs")
        self._s3 = stand.client("s3")
        self._datazone = stand.client("datazone")
        self._backlog, self._dead = queues(self._sqs)
        self._bucket = stand.running.bucket
        self._seen: dict[str, bytes] = {}
        self.moved: Counter[str] = Counter()

    def waiting(self) -> int:
        """Say how many messages are still on the backlog, redriving those that ended in the dead-letter queue."""
        while letters := self._sqs.receive_message(QueueUrl=self._dead, MaxNumberOfMessages=10).get("Messages"):
            for letter in letters:
                self._sqs.send_message(QueueUrl=self._backlog, MessageBody=letter["Body"])
                self._sqs.delete_message(QueueUrl=self._dead, ReceiptHandle=letter["ReceiptHandle"])
                self.moved["dead letters redriven"] += 1
        told = self._sqs.get_queue_attributes(QueueUrl=self._backlog, AttributeNames=list(_COUNTS))["Attributes"]
        return sum(int(told[name]) for name in _COUNTS)

    def settle(self, expected: int, deadline: float, say: Callable[[str], None]) -> bool:
        """Wait until nothing waits and `expected` events are at rest; False when it is not so by `deadline`."""
        while time.monotonic() < deadline:
            waiting = self.waiting()
            if waiting:
                say(f"draining: {waiting} messages on the backlog")
            elif sheltered := self._replayed():
                say(f"replayed {sheltered} from quarantine")
            else:
                resting = self._delivered() + len(self._names("quarantine/", ".event"))
                say(f"draining: {resting} of {expected} at rest")
                if resting >= expected:
                    return True
            time.sleep(_GLANCE)
        return False

    def found(self) -> Found:
        """Read everything there is."""
        self._delivered()
        names = self._names("quarantine/", ".event")
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            kept = dict(zip(names, pool.map(lambda name: self._object(*name), names), strict=True))
        explained = self._names("quarantine/", ".reason.json")
        return Found(list(self._seen.values()), kept, explained, self._days())

    def _delivered(self) -> int:
        """Get what is new in DataZone; say how many events it has."""
        new = [one for one in self._listed() if one not in self._seen]
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            self._seen |= zip(new, pool.map(self._lineage_event, new), strict=True)
        return len(self._seen)

    def _listed(self) -> Iterator[str]:
        pages = self._datazone.get_paginator("list_lineage_events").paginate(domainIdentifier=LOCAL_DOMAIN)
        return (item["id"] for page in pages for item in page["items"])

    def _lineage_event(self, identifier: str) -> bytes:
        answer = self._datazone.get_lineage_event(domainIdentifier=LOCAL_DOMAIN, identifier=identifier)
        raw: bytes = answer["event"].read()
        return raw

    def _replayed(self) -> int:
        """Post what the backlog did not take again, and move it out of the way."""
        sheltered = [name for name in self._names("quarantine/", ".event") if name[0] == _SHELTER]
        days = self._days() if sheltered else {}
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            moved = sum(pool.map(lambda name: self._replay(name, days.get(name, [])), sheltered))
        self.moved["quarantined events replayed"] += moved
        return moved

    def _replay(self, name: tuple[str, str], days: Sequence[str]) -> bool:
        connection = HTTPConnection(self._netloc, timeout=30)
        connection.request("POST", PATH, self._object(*name), {"Content-Type": "application/json"})
        status = connection.getresponse().status
        connection.close()
        if status >= 500:
            return False
        objects: list[ObjectIdentifierTypeDef] = [{"Key": key} for key in (*_keys_of(name), *days)]
        self._s3.delete_objects(Bucket=self._bucket, Delete={"Objects": objects})
        return True

    def _days(self) -> dict[tuple[str, str], list[str]]:
        """Give the keys below days/ by what they are of."""
        days: dict[tuple[str, str], list[str]] = {}
        for key in self._keys("days/"):
            _, code, digest = key.rsplit("/", 2)
            days.setdefault((code, digest), []).append(key)
        return days

    def _names(self, prefix: str, suffix: str) -> list[tuple[str, str]]:
        keys: Iterable[str] = (key for key in self._keys(prefix) if key.endswith(suffix))
        return [(code, name.removesuffix(suffix)) for _, code, name in (key.split("/") for key in keys)]

    def _keys(self, prefix: str) -> Iterator[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
        return (one["Key"] for page in pages for one in page.get("Contents", []))

    def _object(self, code: str, digest: str) -> bytes:
        raw: bytes = self._s3.get_object(Bucket=self._bucket, Key=_keys_of((code, digest))[0])["Body"].read()
        if sha256(raw).hexdigest() != digest:
            raise AssertionError(f"an object in quarantine holds other bytes than its name says: {code}/{digest}")
        return raw


def _keys_of(name: tuple[str, str]) -> tuple[str, str]:
    key = f"quarantine/{'/'.join(name)}"
    return f"{key}.event", f"{key}.reason.json"
