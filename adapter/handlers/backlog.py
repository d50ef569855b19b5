"""Behind the backlog: `handler(event, context)` takes an SQS event and gives a partial batch response."""

import os

from adapter import bootstrap

handler = bootstrap.backlog(os.environ)
