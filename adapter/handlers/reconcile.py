"""On a schedule: `handler(event, context)` looks for what DataZone took and could not process."""

import os

from adapter import bootstrap

handler = bootstrap.reconcile(os.environ)
