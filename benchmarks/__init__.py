"""The measurements, as programs that print ratios: `make bench`."""
