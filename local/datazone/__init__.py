"""The part of Amazon DataZone that moto lacks: lineage events, posted, got and listed.

`register` makes it a service of moto like any other, under `mock_aws` as well as behind a server.
"""

from __future__ import annotations

import re
import sys

from moto import backend_index

from local.datazone import models, urls


def register() -> None:
    """Add DataZone to moto's services. Doing so again changes nothing."""
    if "moto.datazone" in sys.modules:
        return
    # moto imports `moto.<service>` and takes `<service>_backends` from it.
    sys.modules["moto.datazone"] = models
    backend_index.backend_url_patterns.extend(("datazone", re.compile(base)) for base in urls.url_bases)
