"""The real emitters, unmodified, each in an environment of its own, against the adapter on this machine.

Not a part of `make test`: `make test-emitters` runs them, and installs what they need from the public registries.
"""
