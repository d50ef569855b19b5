"""Behind the stream: `handler(event, context)` takes a Kinesis event and gives a partial batch response."""

from adapter import bootstrap
from adapter.handlers import start

handler = start(bootstrap.kinesis)
