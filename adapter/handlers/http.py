"""Behind API Gateway: `handler(event, context)` takes a proxy event and gives a proxy result."""

import os

from adapter import bootstrap

handler = bootstrap.http(os.environ)
