"""Which Pythons this package runs on, said at import."""

import sys


def check_interpreter() -> None:
    """Refuses a free-threaded Python: the core relies on the lock of the ordinary one, and without it would count wrong."""
    if "t" in getattr(sys, "abiflags", ""):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise ImportError(
            f"mindspore needs a Python with its global interpreter lock, but this is the free-threaded build of {version}: "
            f"use the ordinary Python {version}."
        )


__all__ = ["check_interpreter"]
