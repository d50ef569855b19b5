"""Each standard facet once, with everything that its schema has a word about, by the holder it belongs to."""

from __future__ import annotations

from typing import Any

from tests.unit.test_spec import URI, UUID

TIME = "2025-06-15T12:00:00Z"
NESTED = {"f": {"_producer": URI, "_schemaURL": URI}}

type Example = dict[str, Any]

_TRANSFORMATION = {"type": "DIRECT", "subtype": "IDENTITY", "description": "as is", "masking": False}
_FIELD = {"namespace": "s3://lake", "name": "raw", "field": "id", "transformations": [_TRANSFORMATION]}
_METRICS: Example = {
    "rowCount": 1,
    "bytes": 2,
    "fileCount": 3,
    "lastUpdated": TIME,
    "columnMetrics": {
        "id": {
            "nullCount": 0,
            "distinctCount": 1,
            "sum": 1.5,
            "count": 1,
            "min": 1,
            "max": 2,
            "quantiles": {"0.5": 1.5},
        }
    },
}
_STATISTICS: Example = {"rowCount": 1, "size": 2, "fileCount": 3}
_OWNERSHIP: Example = {"owners": [{"name": "team:retail", "type": "MAINTAINER"}]}
_DOCUMENTATION: Example = {"description": "orders by day", "contentType": "text/plain"}
_TAGS: Example = {"tags": [{"key": "pii", "value": "no", "source": "dbt"}]}
_INPUTS = [
    {"namespace": "s3://lake", "name": "raw", "type": "DATASET", "field": "id", "transformations": [_TRANSFORMATION]},
    {"namespace": "retail", "name": "load", "type": "JOB", "runId": UUID, "transformations": [_TRANSFORMATION]},
]
_FIELDS = {"id": {"inputs": _INPUTS}}
_CONDITION = {
    "type": "binary",
    "operator": "AND",
    "left": {"type": "location", "locations": ["s3://lake/raw/1"]},
    "right": {
        "type": "compare",
        "comparison": "EQUAL",
        "left": {"type": "field", "field": "day"},
        "right": {"type": "literal", "value": "monday"},
    },
}
_PARTITIONS = {"type": "partition", "partitions": [{"identifier": "day", "dimensions": {"day": "monday"}}]}
_RUN = {"runId": UUID, "facets": NESTED}
_JOB = {"namespace": "retail", "name": "daily", "facets": NESTED}
_DEPENDENCY: Example = {
    "job": {"namespace": "retail", "name": "load"},
    "run": {"runId": UUID},
    "dependency_type": "DIRECT",
    "sequence_trigger_rule": "FINISH_TO_START",
    "status_trigger_rule": "ALL",
}
_OF_A_TEST = {
    "name": "not_null",
    "severity": "error",
    "description": "no nulls",
    "expected": "0",
    "actual": "0",
    "content": "select 1",
    "contentType": "sql",
    "params": {"column": "id"},
}

EXAMPLES: dict[str, dict[str, Example]] = {
    "RunFacets": {
        "environmentVariables": {"environmentVariables": [{"name": "STAGE", "value": "prod"}]},
        "errorMessage": {"message": "no such table", "programmingLanguage": "SQL", "stackTrace": "line 1"},
        "executionParameters": {"parameters": [{"key": "d", "name": "day", "description": "which", "value": "1"}]},
        "externalQuery": {"externalQueryId": "q1", "source": "athena"},
        "extractionError": {
            "totalTasks": 1,
            "failedTasks": 1,
            "errors": [{"errorMessage": "no", "stackTrace": "line 1", "task": "load", "taskNumber": 1}],
        },
        "jobDependencies": {"upstream": [_DEPENDENCY], "downstream": [_DEPENDENCY], "trigger_rule": "ALL_SUCCESS"},
        "nominalTime": {"nominalStartTime": TIME, "nominalEndTime": TIME},
        "parent": {"run": _RUN, "job": _JOB, "root": {"run": _RUN, "job": _JOB}},
        "processing_engine": {"version": "4.0.5", "name": "spark", "openlineageAdapterVersion": "1.53.0"},
        "tags": _TAGS,
        "test": {"tests": [_OF_A_TEST | {"status": "pass", "type": "not_null"}]},
    },
    "JobFacets": {
        "documentation": _DOCUMENTATION,
        "jobType": {
            "processingType": "BATCH",
            "integration": "DBT",
            "jobType": "MODEL",
            "emissionPattern": {"eventTrigger": "INTERVAL", "eventContentMode": "FULL", "windowDuration": 60},
        },
        "lineage": {
            "entries": [
                {"namespace": "s3://lake", "name": "daily", "type": "DATASET", "inputs": _INPUTS, "fields": _FIELDS},
                {"namespace": "retail", "name": "daily", "type": "JOB", "runId": UUID, "inputs": _INPUTS},
            ]
        },
        "ownership": _OWNERSHIP,
        "sql": {"query": "select 1", "dialect": "duckdb"},
        "sourceCode": {"language": "python", "sourceCode": "pass"},
        "sourceCodeLocation": {
            "type": "git",
            "url": "https://example.com/retail/daily.py",
            "repoUrl": "https://example.com/retail",
            "path": "daily.py",
            "version": "1",
            "tag": "v1",
            "branch": "main",
            "pullRequestNumber": "7",
        },
        "tags": _TAGS,
    },
    "DatasetFacets": {
        "catalog": {
            "framework": "iceberg",
            "type": "glue",
            "name": "lake",
            "metadataUri": "glue://eu",
            "source": "spark",
            "warehouseUri": "s3://lake",
            "catalogProperties": {"region": "eu-central-1"},
        },
        "columnLineage": {
            "fields": {
                "id": {"inputFields": [_FIELD], "transformationDescription": "as is", "transformationType": "IDENTITY"}
            },
            "dataset": [_FIELD],
        },
        "dataQualityMetrics": _METRICS,
        "dataSource": {"name": "lake", "uri": "s3://lake"},
        "datasetType": {"datasetType": "TABLE", "subType": "EXTERNAL"},
        "documentation": _DOCUMENTATION,
        "hierarchy": {"hierarchy": [{"type": "DATABASE", "name": "retail"}]},
        "lifecycleStateChange": {
            "lifecycleStateChange": "RENAME",
            "previousIdentifier": {"namespace": "s3://lake", "name": "old"},
        },
        "lineage": {"inputs": _INPUTS, "fields": _FIELDS},
        "ownership": _OWNERSHIP,
        "schema": {
            "fields": [
                {
                    "name": "id",
                    "type": "struct",
                    "description": "whose",
                    "ordinal_position": 1,
                    "fields": [{"name": "a"}],
                }
            ]
        },
        "storage": {"storageLayer": "iceberg", "fileFormat": "parquet"},
        "symlinks": {"identifiers": [{"namespace": "glue", "name": "retail.daily", "type": "TABLE"}]},
        "tags": {"tags": [{"key": "pii", "value": "no", "source": "dbt", "field": "id"}]},
        "version": {"datasetVersion": "7"},
    },
    "InputFacets": {
        "dataQualityAssertions": {
            "assertions": [_OF_A_TEST | {"assertion": "not_null", "success": True, "column": "id"}],
        },
        "dataQualityMetrics": _METRICS,
        "inputStatistics": _STATISTICS,
        "subset": {"inputCondition": _CONDITION},
    },
    "OutputFacets": {"outputStatistics": _STATISTICS, "subset": {"outputCondition": _PARTITIONS}},
}
