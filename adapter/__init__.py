"""The gate between OpenLineage emitters and Amazon DataZone: what runs in AWS Lambda."""
