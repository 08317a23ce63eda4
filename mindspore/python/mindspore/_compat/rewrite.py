"""`mindspore.rewrite`: changing the source of a network while it runs, which this build does not have."""

from __future__ import annotations

from mindspore.common._refused import refusing

_WHY = "the source of a network is not rewritten here; change its cells, which are attributes that may be replaced"
SymbolTree, Node, NodeType, ScopedValue, ValueType, PatternEngine, Replacement, PatternNode = (
    refusing(name, _WHY)
    for name in (
        "SymbolTree",
        "Node",
        "NodeType",
        "ScopedValue",
        "ValueType",
        "PatternEngine",
        "Replacement",
        "PatternNode",
    )
)
__all__ = ["Node", "NodeType", "ScopedValue", "SymbolTree", "ValueType"]
