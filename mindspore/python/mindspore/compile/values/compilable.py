"""What compilation needs of a Cell beside its public names, in one place: nn/cell.py and its parts provide it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from mindspore.compile.versions.signature import Signature

# Attributes in which a Cell, a function or any owner of a method keeps what was compiled for it.
VERSIONS = "_compiled_versions"
GRADIENTS = "_compiled_gradients"
METHODS = "_compiled_methods"
TRANSFORMS = "_compiled_transforms"
KEPT = VERSIONS, GRADIENTS, METHODS, TRANSFORMS

# Attributes that say how a Cell is to be compiled; see Options.
STRICT, SIGNATURE, FAST, WHOLE = "_strict", "_signature", "_fast", "_whole_arguments"

# Names and bookkeeping, which no construct depends on.
BOOKKEEPING = frozenset(
    {VERSIONS, GRADIENTS, METHODS, "_params", "_cells", "_param_prefix", STRICT, FAST}
    | {"cell_init_args", "_cell_init_args", "instance_name", "_instance_name", WHOLE}
)
# What a Cell may add to its construct; see nn/_cell_options.py.
SETTINGS = (
    *("_compute_type", "_parameter_hooks", "_recompute", "bprop"),
    *("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"),
)


class Compilable(Protocol):
    """A Cell, as the compiler sees it."""

    requires_grad: bool
    construct: Callable[..., Any]
    _cells: dict[str, Any]
    _special: bool  # whether any of SETTINGS applies

    def _run_eagerly(self, args: Any, kwargs: dict[str, Any]) -> Any: ...
    def _run_special(self, args: tuple, kwargs: dict[str, Any], run: Callable) -> Any: ...
    def _cast_inputs(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]: ...
    def _cast_parameter(self, value: Any) -> Any: ...


class Options(NamedTuple):
    """How a Cell or a function is to be compiled."""

    strict: bool = False  # wholly, or not at all
    signature: Signature | None = None  # declared inputs
    fast: bool = True  # with the passes that only make graphs faster
    whole: bool = False  # all processes are given the same arguments; see common/_planning.py

    @staticmethod
    def of(state: dict[str, Any]) -> Options:
        """Of a Cell with these attributes."""
        strict, fast = state.get(STRICT, False), state.get(FAST, True)
        return Options(strict, state.get(SIGNATURE), fast, state.get(WHOLE, False))


AS_USUAL = Options()


def changes_parameters(state: dict[str, Any]) -> bool:
    """Whether a Cell with these attributes sees its Parameters converted, or through hooks."""
    return state.get("_compute_type") is not None or state.get("_parameter_hooks") is not None
