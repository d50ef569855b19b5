"""A program that runs in an environment of openlineage-python, from its own directory."""
