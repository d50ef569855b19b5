"""The doors: one Lambda handler a module, each a translation of its transport and one call inward."""
