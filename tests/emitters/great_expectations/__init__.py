"""Programs that run in an environment of Great Expectations, from their own directory."""
