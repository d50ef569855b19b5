"""A job that runs in Spark's own environment, from its own directory."""
