"""Assets of a retail company: one with a schema and a check that fails, one with column lineage, one that fails."""

from dagster import (
    AssetCheckResult,
    AssetExecutionContext,
    AssetKey,
    AssetObservation,
    Definitions,
    MaterializeResult,
    TableColumn,
    TableColumnDep,
    TableColumnLineage,
    TableSchema,
    asset,
    asset_check,
)


@asset
def orders(context: AssetExecutionContext) -> MaterializeResult:
    context.log_event(AssetObservation("stores"))
    columns = [TableColumn("order_id", "int"), TableColumn("store", "string")]
    return MaterializeResult(metadata={"dagster/column_schema": TableSchema(columns)})


@asset_check(asset=orders)
def has_store() -> AssetCheckResult:
    return AssetCheckResult(passed=False)


@asset(deps=[orders])
def revenue() -> MaterializeResult:
    lineage = TableColumnLineage({"store": [TableColumnDep(AssetKey("orders"), "store")]})
    return MaterializeResult(metadata={"dagster/column_lineage": lineage})


@asset(deps=[orders])
def broken() -> None:
    raise ValueError("order 4 has no store")


defs = Definitions(assets=[orders, revenue, broken], asset_checks=[has_store])
