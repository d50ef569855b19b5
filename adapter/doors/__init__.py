"""The doors: each undoes one transport, makes one call inward and turns the outcome into that transport's answer."""
