"""The AWS account that everything local happens in."""

REGION = "us-east-1"
ACCOUNT = "123456789012"

# What the functions and the pollers sign with; the local AWS takes anything.
ACCESS_KEY = "local"
SECRET_KEY = "local"  # noqa: S105 - there is nothing behind it
