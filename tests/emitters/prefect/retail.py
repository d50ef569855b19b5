"""A deployment of a retail company's flow: a task that writes, one that reads and writes, one that fails."""

from prefect import flow, task
from prefect.artifacts import create_table_artifact


def dataset(table: str, role: str) -> None:
    tables = [{"database_uri": "duckdb:///warehouse", "table": table}]
    create_table_artifact(key=f"{table}-{role}", table=tables, description=f"ol-dataset_{role}")


@task
def orders() -> int:
    dataset("orders", "output")
    return 4


@task
def revenue(count: int) -> float:
    dataset("orders", "input")
    dataset("revenue", "output")
    return count * 19.90


@task
def broken() -> None:
    raise ValueError("order 4 has no store")


@flow(name="retail daily")
def daily() -> None:
    revenue(orders())
    broken()


if __name__ == "__main__":
    daily.serve(name="prod")
