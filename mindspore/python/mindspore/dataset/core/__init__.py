"""What the parts of the pipeline share: settings, checks, the random streams."""
