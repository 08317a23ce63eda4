"""Functions that look at the Python frame that calls them, or at what is being handled there: debuggers, `locals()`, tracebacks. In
compiled code there is no such frame, so that the whole call runs eagerly."""

from __future__ import annotations

import inspect
import sys
from typing import Any

_FUNCTIONS = (
    *(exec, eval, globals, locals, vars, breakpoint),
    *(inspect.currentframe, inspect.stack, inspect.trace),
    *(sys._getframe, sys.exc_info, sys.settrace, sys.setprofile, sys.gettrace, sys.getprofile),
    *(getattr(sys, name) for name in ("exception", "_getframemodulename") if hasattr(sys, name)),
)
_MODULES = frozenset(
    {"traceback", "pdb", "bdb", "code", "ipdb", "pudb", "web_pdb", "IPython", "debugpy", "pydevd"}
    | {"pydevd_pycharm"}
)


def looks_at_frames(function: Any, args: Any) -> bool:
    """Whether a call of a function does so."""
    if any(function is f for f in _FUNCTIONS) or (function is dir and not args):
        return True
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in _MODULES
