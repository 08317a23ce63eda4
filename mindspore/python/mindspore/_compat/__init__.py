"""Module paths of the public API, of now and of earlier releases, that have no file of their own place. `paths.py` says what is
found under each; it is loaded when somebody imports it, and costs nothing before."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def _found(home: str) -> Any:
    target, _, attribute = home.partition(":")
    found = importlib.import_module(target)
    return getattr(found, attribute) if attribute else found


def _public(found: Any) -> list[str]:
    return list(getattr(found, "__all__", None) or [n for n in dir(found) if n[0] != "_"])


class _Names(Loader):
    """Makes a module whose names come from other modules, each when it is asked for."""

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """A module that finds its names by itself."""
        homes = _tables().NAMES[spec.name]
        module = types.ModuleType(spec.name, f"Names of {', '.join(homes)}, under another path.")

        def get(name: str) -> Any:
            if name == "__all__":
                return module.__dir__()
            for home, names in homes.items():
                if name in names.split() or (names == "*" and not name.startswith("__")):
                    found = _found(home)
                    if hasattr(found, name):
                        setattr(module, name, getattr(found, name))
                        return getattr(module, name)
            raise AttributeError(f"module '{spec.name}' has no attribute '{name}'")

        def listed() -> list[str]:
            """What `import *` takes: names of the table, and where it says all, what their home shows."""
            pairs = homes.items()
            return [
                n
                for home, names in pairs
                for n in (_public(_found(home)) if names == "*" else names.split())
            ]

        module.__dict__.update(__getattr__=get, __dir__=listed)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to do."""


class _Finder(MetaPathFinder):
    """Finds what the tables name, after all files were looked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        """What is found under a module's name."""
        if not fullname.startswith("mindspore.") and fullname not in ("akg",):
            return None
        tables = _tables()
        if fullname in tables.FILES:
            file = _FOLDER / tables.FILES[fullname]
            return spec_from_file_location(fullname, file, submodule_search_locations=[])
        if fullname in tables.NAMES:
            return ModuleSpec(fullname, _Names(), is_package=True)
        return None


def _tables() -> Any:
    return importlib.import_module("mindspore._compat.paths")


def install() -> None:
    """Lets these paths be found."""
    sys.meta_path.append(_Finder())


def known(path: str) -> bool:
    """Whether there is such a path."""
    return path in _tables().FILES or path in _tables().NAMES
