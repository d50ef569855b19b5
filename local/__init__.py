"""The adapter on one machine: AWS by moto, a DataZone that moto lacks, and the doors run as Lambda would run them."""
