"""`lineage-adapter`: what an operator types. Nothing here is part of the Lambda package."""
