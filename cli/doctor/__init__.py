"""`lineage-adapter doctor`: whether a deployment is well, and how to point emitters at it."""
