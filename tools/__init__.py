"""What a developer runs; neither the functions nor the command line need it."""
