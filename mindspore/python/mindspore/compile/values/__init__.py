"""What a name may stand for while a function is walked. A Python value is itself. A tensor of the graph is a Tensor without
elements. What neither can be has a stand-in: a choice between values, a number that is an input, text that holds a tensor,
an object that exists between two graphs only. What was read of the world outside is kept as facts that each call checks.
"""
