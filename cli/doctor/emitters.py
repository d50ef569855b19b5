"""Configuration for emitters, ready to be pasted: the one that docs/emitters/ shows and the real clients are run with.

A test holds both to be the same. The token is never in it: TOKEN and NAMESPACE are what a reader puts their own for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN, NAMESPACE = "TOKEN", "NAMESPACE"


@dataclass(frozen=True, slots=True)
class Target:
    """Where emitters post: `url` has no path; `with_token` is whether they need one."""

    url: str
    with_token: bool
    namespace: str = NAMESPACE


@dataclass(frozen=True, slots=True)
class Configuration:
    """What one emitter wants, where it goes, and the page in docs/emitters/ that says more."""

    emitter: str
    goes_into: str
    text: str
    page: str


def configurations(target: Target) -> Iterator[Configuration]:
    """Give those for which there is one to print."""
    glue_says = (
        "the parameter --conf of the job, whose value this is from after that word on; the jar, "
        "openlineage-spark_2.12, goes into --extra-jars, and --user-jars-first is true"
    )
    yield Configuration("Spark on Glue", glue_says, glue(target), "spark")
    yield Configuration(
        "Airflow on MWAA", "the environment's Airflow configuration options", airflow(target), "airflow"
    )
    yield Configuration("dbt", "the job's environment", dbt(target), "dbt")
    yield Configuration("Python", "openlineage.yml in the working directory", python(target), "python")


def glue(target: Target) -> str:
    """Give the value of a Glue job's parameter --conf, that word included."""
    return " ".join(f"--conf {line}" for line in _spark(target)) + "\n"


def airflow(target: Target) -> str:
    """Give MWAA's configuration options."""
    transport: dict[str, object] = {"type": "http", "url": target.url, "compression": "gzip"}
    if target.with_token:
        transport["auth"] = {"type": "api_key", "apiKey": TOKEN}
    return f"openlineage.transport = {json.dumps(transport)}\nopenlineage.namespace = {target.namespace}\n"


def dbt(target: Target) -> str:
    """Give the lines of a shell that run dbt with lineage."""
    key = [f"export OPENLINEAGE_API_KEY={TOKEN}"] if target.with_token else []
    lines = [
        f"export OPENLINEAGE_URL={target.url}",
        *key,
        f"export OPENLINEAGE_NAMESPACE={target.namespace}",
        "dbt-ol run",
    ]
    return "\n".join(lines) + "\n"


def python(target: Target) -> str:
    """Give openlineage.yml."""
    auth = f"  auth:\n    type: api_key\n    apiKey: {TOKEN}\n" if target.with_token else ""
    return f"transport:\n  type: http\n  url: {target.url}\n  compression: gzip\n{auth}"


def _spark(target: Target) -> Iterator[str]:
    yield "spark.extraListeners=io.openlineage.spark.agent.OpenLineageSparkListener"
    yield "spark.openlineage.transport.type=http"
    yield f"spark.openlineage.transport.url={target.url}"
    yield "spark.openlineage.transport.compression=gzip"
    if target.with_token:
        yield "spark.openlineage.transport.auth.type=api_key"
        yield f"spark.openlineage.transport.auth.apiKey={TOKEN}"
    yield f"spark.openlineage.namespace={target.namespace}"
