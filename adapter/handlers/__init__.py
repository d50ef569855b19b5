"""What Lambda is pointed at: one module a function, `handler` built once, when the container starts."""
