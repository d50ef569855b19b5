"""Behind the backlog: `handler(event, context)` takes an SQS event and gives a partial batch response."""

from adapter import bootstrap
from adapter.handlers import start

handler = start(bootstrap.backlog)
