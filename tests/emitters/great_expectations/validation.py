"""Great Expectations 1: `checkpoint` puts the OpenLineage action into a checkpoint, `by_hand` runs the page's code."""

import sys

import great_expectations as gx
from openlineage.common.provider.great_expectations import OpenLineageValidationAction
from shop import URL, fill

fill()
context = gx.get_context(mode="ephemeral")
source = context.data_sources.add_sqlite("shop", connection_string=URL)
batch = source.add_table_asset("orders", table_name="orders").add_batch_definition_whole_table("all")
suite = context.suites.add(gx.ExpectationSuite("orders"))
suite.add_expectation(gx.expectations.ExpectTableRowCountToBeBetween(min_value=1, max_value=1000))
suite.add_expectation(gx.expectations.ExpectColumnValuesToBeUnique(column="order_id"))
suite.add_expectation(gx.expectations.ExpectColumnValuesToNotBeNull(column="store"))

if sys.argv[1] == "checkpoint":
    definition = gx.ValidationDefinition(name="orders", data=batch, suite=suite)
    action = OpenLineageValidationAction(name="openlineage", job_name="check-orders")
    checkpoint = gx.Checkpoint(name="orders", validation_definitions=[definition], actions=[action])
    context.checkpoints.add(checkpoint).run()
else:
    exec(sys.argv[2])  # noqa: S102 - the code that docs/emitters/great_expectations.md shows
