"""Where compiled versions are kept: with the object whose code they are, so that they go when it goes.

What lies in an object's attributes is handed on: `copy.copy` gives it to the copy, `functools.wraps` to the function that wraps
another. Compiled versions speak of the object they were made for, so a home knows whose it is, and serves nobody else.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from mindspore.common import _late
from mindspore.compile.program.recent import put
from mindspore.compile.values.compilable import GRADIENTS, METHODS, TRANSFORMS
from mindspore.compile.values.records import is_python_class
from mindspore.ops._grad import GradFunction


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


_MAX_BESIDE = 64
_beside: dict[tuple[int, str], Home] = {}  # of objects that have no attributes of their own


def home_of(owner: Any, name: str) -> Home:
    """The home under this name among the attributes of `owner`, made where `owner` has none of its own."""
    attributes = getattr(owner, "__dict__", None)
    if isinstance(owner, type):
        home = type.__getattribute__(owner, "__dict__").get(name)
    elif isinstance(attributes, dict):
        home = attributes.get(name)
    else:
        home = _beside.get((id(owner), name))
    if home is None or home.owner() is not owner:
        home = Home(owner)
        _settle(owner, name, home, attributes)
    return home


def _settle(owner: Any, name: str, home: Home, attributes: Any) -> None:
    if isinstance(owner, type) and is_python_class(owner):  # others take no attributes
        type.__setattr__(owner, name, home)
    elif isinstance(attributes, dict):
        attributes[name] = home
    else:  # a later object of this id finds that the home is not its own
        put(_beside, (id(owner), name), home, _MAX_BESIDE)


def home_for(function: Any) -> tuple[dict, tuple]:
    """Where compiled versions of transforms of `function` are kept, and under which key: with the user's function, since a
    transform is often made anew for each call."""
    if getattr(type(function), "is_transform", False):  # what wraps one has its attributes, too
        home, inner = home_for(function.fn)
        return home, (function._transform_key, inner)
    if isinstance(function, GradFunction) and function.weights is None:
        home, inner = home_for(function.fn)
        return home, (function.settings(), inner)
    if getattr(function, "owner", None) is not None and hasattr(type(function), "_ms_compiled"):
        function = function.bound_function()  # each look-up gives the method another JitFunction
    if isinstance(function, types.MethodType):
        home = home_of(function.__self__, METHODS)
        return home, ("transform", function.__func__)
    if isinstance(function, _late.cell_class):
        return home_of(function, GRADIENTS), ()
    return home_of(function, TRANSFORMS), ()
