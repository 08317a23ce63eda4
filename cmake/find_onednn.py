"""Prints the prefix that holds oneDNN's headers and library, asked from the wheel's metadata."""

import importlib.metadata
import sys
from pathlib import Path


def main() -> int:
    """Print the prefix, or say on stderr what to install."""
    for name in ("onednn-devel-cpu-gomp", "onednn_devel_cpu_gomp"):
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in distribution.files or []:
            if file.as_posix().endswith("include/dnnl.hpp"):
                print(Path(str(distribution.locate_file(file))).resolve().parent.parent)
                return 0
    print(
        f"The package onednn-devel-cpu-gomp is not installed for {sys.executable}: "
        "pip install $(scripts/packages.py build), "
        "or pass -DMS_ONEDNN_ROOT=<prefix>.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
