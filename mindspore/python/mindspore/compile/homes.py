"""Where compiled versions are kept: with the object whose code they are, so that they go when it goes.

What lies in an object's attributes is handed on: `copy.copy` gives it to the copy, `functools.wraps` to the function that wraps
another. Compiled versions speak of the object they were made for, so a home knows whose it is, and serves nobody else.
"""

from __future__ import annotations

import weakref
from typing import Any


class Home(dict):
    """The caches of one object. A deep copy or a pickle of it is nobody's, and empty."""

    def __init__(self, owner: Any):
        super().__init__()
        try:
            self.owner: Any = weakref.ref(owner)
        except TypeError:  # of a class whose objects cannot be referred to weakly
            self.owner = lambda: owner

    def __reduce__(self) -> tuple:
        return Home, (None,)


def home_of(owner: Any, name: str) -> Home:
    """The home under this name among the attributes of `owner`, made where `owner` has none of its own."""
    attributes = owner.__dict__
    home = attributes.get(name)
    if home is None or home.owner() is not owner:
        home = attributes[name] = Home(owner)
    return home
