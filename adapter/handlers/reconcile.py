"""On a schedule: `handler(event, context)` looks for what DataZone took and could not process."""

from adapter import bootstrap
from adapter.handlers import start

handler = start(bootstrap.reconcile)
