"""Spark with the OpenLineage listener, configured as docs/emitters/spark.md says: reads, joins, writes and fails."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.emitters import jvm, page
from tests.emitters.ledger import lines
from tests.emitters.recorder import passing, recording

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tests.emitters.environments import Environment
    from tests.emitters.ledger import Ledger
    from tests.integration.running import Running

HERE = Path(__file__).parent / "spark"
# Nothing of this is about lineage: a small Spark that keeps to this machine, and a log that counts.
VARIABLES = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_SUBMIT_OPTS": f"-Dlog4j2.configurationFile={(HERE / 'log4j2.properties').as_uri()} -Dspark.master=local[2] "
    "-Dspark.ui.enabled=false -Dspark.sql.shuffle.partitions=2",
}


@pytest.fixture(scope="module")
def spark(install: Callable[[str], Environment]) -> Environment:
    return install("spark")


@pytest.fixture
def work(tmp_path: Path, jars: Callable[[str], Path]) -> Path:
    """Give a directory with the job and the jar."""
    for file in (HERE / "job.py", *jars("spark").glob("*.jar")):
        shutil.copy(file, tmp_path)
    return tmp_path


def test_the_page(spark: Environment, work: Path, system: Running, ledger: Ledger) -> None:
    """Compressed and with a token; a job that fails in the end. Counted by the client's own log."""
    with recording(passing(system.url)) as recorder:
        (work / "lineage.properties").write_text(page.block("spark", "lineage.properties", url=recorder.url))
        command = shlex.split(page.block("spark", "command"))
        output = spark.run(*command, "fail", cwd=work, status=1, variables=VARIABLES)
    emitted = jvm.logged(output)
    ledger.closes(emitted, findings(emitted))
    assert [asked.event for asked in recorder.asked] == emitted
    assert {asked.path for asked in recorder.asked} == {"/api/v1/lineage"}
    assert {asked.headers["content-encoding"] for asked in recorder.asked} == {"gzip"}
    assert {asked.headers["authorization"] for asked in recorder.asked} == {f"Bearer {page.TOKEN}"}
    assert {json.loads(raw)["eventType"] for raw in emitted} == {"START", "RUNNING", "COMPLETE", "FAIL"}


def test_glues_one_conf(spark: Environment, work: Path, system: Running, ledger: Ledger) -> None:
    """The chain inside the one parameter's value, as Glue hands it to spark-submit."""
    chain = shlex.split(page.block("spark", "glue", url=system.url))
    jar = next(work.glob("*.jar"))
    output = spark.run("spark-submit", *chain, "--jars", jar.name, "job.py", cwd=work, variables=VARIABLES)
    emitted = jvm.logged(output)
    ledger.closes(emitted, findings(emitted))
    assert lineage_of(emitted, "revenue") == {"region": {"region"}, "revenue": {"amount"}}


def test_plain_to_an_url_with_a_slash(spark: Environment, work: Path, system: Running, ledger: Ledger) -> None:
    """Neither gzip nor token; counted by the client's file transport, beside the HTTP transport in a composite one."""
    with recording(passing(system.url)) as recorder:
        shown = page.block("spark", "lineage.properties", url=f"{recorder.url}/").splitlines()
        plain = [line for line in shown if ".compression=" not in line and ".auth." not in line]
        (work / "lineage.properties").write_text("\n".join(tee(plain, work / "emitted")))
        spark.run(*shlex.split(page.block("spark", "command")), cwd=work, variables=VARIABLES)
    emitted = lines(work / "emitted")
    ledger.closes(emitted, findings(emitted))
    assert [asked.body for asked in recorder.asked] == emitted
    assert {asked.path for asked in recorder.asked} == {"/"}
    assert not any({"content-encoding", "authorization"} & asked.headers.keys() for asked in recorder.asked)


def tee(properties: Iterable[str], file: Path) -> list[str]:
    """Put a file transport beside the one of `properties`."""
    here = "spark.openlineage.transport."
    moved = [line.replace(here, f"{here}transports.adapter.") for line in properties]
    count = [f"{here}transports.count.type=file", f"{here}transports.count.location={file}"]
    return [*moved, *count, f"{here}type=composite", f"{here}continueOnFailure=true"]


def findings(emitted: Collection[bytes]) -> dict[bytes, str]:
    """Give the events that are refused with right: those of RDD jobs in which processing_engine is there twice."""
    found = {raw: twice for raw in emitted if (twice := doubled(raw))}
    assert found, "fixed in this release: take it out of the page"
    for raw, twice in found.items():
        assert twice == ["processing_engine"]
        assert json.loads(raw)["job"]["facets"]["jobType"]["jobType"] == "RDD_JOB"
    return dict.fromkeys(found, "duplicate_key")


def doubled(raw: bytes) -> list[str]:
    """Give the keys that occur twice in an object, with equal values."""
    twice: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                assert seen[key] == value
                twice.append(key)
            seen[key] = value
        return seen

    json.loads(raw, object_pairs_hook=look)
    return twice


def lineage_of(emitted: Iterable[bytes], name: str) -> dict[str, set[str]]:
    """Give the columns of the dataset that ends in `name`, each with the columns it is made of; both facets agree."""
    outputs = [one for raw in emitted for one in json.loads(raw)["outputs"] if one["name"].endswith(f"/{name}")]
    facets = next(one["facets"] for one in outputs if "columnLineage" in one["facets"])
    fields = facets["columnLineage"]["fields"]
    assert [field["name"] for field in facets["schema"]["fields"]] == list(fields)
    return {column: {source["field"] for source in made["inputFields"]} for column, made in fields.items()}
