"""MindIR files: networks as graphs of ops, in MindSpore's own layout (docs/formats/mindir.md).

`writing` walks the graph that the front end makes of a network, `reading` makes a graph that runs of a file; which op is which
primitive stands in `rules` for both, and `messages` says how values look in a file.
"""
