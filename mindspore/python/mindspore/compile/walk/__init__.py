"""Python, statement by statement. A Tracer is one compilation, a Frame one call of a user's function in it: expressions are
evaluated on the spot, and what touches a tensor of the graph appends a node to it.
"""
