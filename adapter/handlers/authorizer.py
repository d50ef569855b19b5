"""In front of API Gateway's routes: `handler(event, context)` takes an authorizer event and says who may come in."""

import os

from adapter import bootstrap

handler = bootstrap.authorizer(os.environ)
