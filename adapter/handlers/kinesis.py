"""Behind the stream: `handler(event, context)` takes a Kinesis event and gives a partial batch response."""

import os

from adapter import bootstrap

handler = bootstrap.kinesis(os.environ)
