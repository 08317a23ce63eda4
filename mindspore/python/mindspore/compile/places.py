"""Where this package lies, under the path that the core names."""

from mindspore.compile.program.places import PACKAGE  # noqa: F401
