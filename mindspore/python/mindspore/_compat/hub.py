"""Networks and weights that the first releases fetched from MindSpore's hub. Nothing here goes to the network by itself."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["load", "load_weights"]


def load(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """A network of the hub, which would have to be fetched: an error."""
    del args, kwargs
    _refuse("load", name, "`mindspore.model_zoo` has networks that are built from here")


def load_weights(network: Any, network_name: str | None = None, **kwargs: Any) -> NoReturn:
    """Weights of the hub for a network, which would have to be fetched: an error."""
    del kwargs
    remedy = "fetch the file, and give what `load_checkpoint` reads of it to `load_param_into_net`"
    _refuse("load_weights", network_name or type(network).__name__, remedy)


def _refuse(function: str, name: Any, remedy: str) -> NoReturn:
    raise RuntimeError(
        f"For 'mindspore.hub.{function}', {name!r} would have to be fetched over the network, which is not done: {remedy}."
    )
