"""What somebody would send who means harm; each with what it may cost and what it must not reach."""
