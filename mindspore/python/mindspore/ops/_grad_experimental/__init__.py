"""Where scripts find the registry of gradients of their own primitives."""
