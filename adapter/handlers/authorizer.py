"""In front of API Gateway's routes: `handler(event, context)` takes an authorizer event and says who may come in."""

from adapter import bootstrap
from adapter.handlers import start

handler = start(bootstrap.authorizer)
