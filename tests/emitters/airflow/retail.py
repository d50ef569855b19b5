"""A day of a retail company: a DAG that ends well after a retry, and one that fails."""

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG, Asset

ORDERS = Asset("file:///warehouse/raw/orders.csv")
REVENUE = Asset("file:///warehouse/mart/revenue.csv")


def export(ti: Any) -> None:  # noqa: ANN401 - Airflow has no public type for it
    if ti.try_number == 1:
        raise RuntimeError("the shop's export is not there yet")


def check() -> None:
    raise ValueError("order 4 has no store")


with DAG("retail_daily", schedule=None):
    wait = PythonOperator(task_id="wait", python_callable=export, retries=1, retry_delay=timedelta(seconds=1))
    wait >> BashOperator(task_id="load", bash_command="true", inlets=[ORDERS], outlets=[REVENUE])

with DAG("retail_broken", schedule=None):
    PythonOperator(task_id="check", python_callable=check, inlets=[ORDERS])
