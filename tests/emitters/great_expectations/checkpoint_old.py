"""Great Expectations 0.15: a checkpoint whose action list has the OpenLineage action, given as JSON by the caller."""

import json
import sys

from great_expectations.core.batch import BatchRequest
from great_expectations.data_context import BaseDataContext
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults
from shop import URL, fill

REQUEST = {"datasource_name": "shop", "data_connector_name": "tables", "data_asset_name": "orders"}

fill()
context = BaseDataContext(
    DataContextConfig(
        anonymous_usage_statistics={"enabled": False}, store_backend_defaults=InMemoryStoreBackendDefaults()
    )
)
context.add_datasource(
    "shop",
    class_name="Datasource",
    execution_engine={"class_name": "SqlAlchemyExecutionEngine", "connection_string": URL},
    data_connectors={
        "tables": {"class_name": "ConfiguredAssetSqlDataConnector", "assets": {"orders": {"table_name": "orders"}}}
    },
)
context.create_expectation_suite("orders")
validator = context.get_validator(batch_request=BatchRequest(**REQUEST), expectation_suite_name="orders")
validator.expect_table_row_count_to_be_between(1, 1000)
validator.expect_column_values_to_be_unique("order_id")
validator.expect_column_values_to_not_be_null("store")
validator.save_expectation_suite(discard_failed_expectations=False)
context.add_checkpoint(
    name="orders",
    config_version=1,
    class_name="Checkpoint",
    validations=[{"batch_request": REQUEST, "expectation_suite_name": "orders"}],
    action_list=[
        {"name": "store", "action": {"class_name": "StoreValidationResultAction"}},
        {"name": "openlineage", "action": json.loads(sys.argv[1])},
    ],
)
result = context.run_checkpoint("orders")
assert not result.success, "order 4 has no store"
