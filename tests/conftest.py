"""What every test shares: hypothesis that tries the same examples each time and is not hurried by a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("repeatable")
