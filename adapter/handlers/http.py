"""Behind API Gateway: `handler(event, context)` takes a proxy event and gives a proxy result."""

from adapter import bootstrap
from adapter.handlers import start

handler = start(bootstrap.http)
