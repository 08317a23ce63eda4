"""The programs that are timed. Each case is a function that prepares and returns `measure() -> figure`."""
