"""From a call to the compiled version that serves it: found by the types of its arguments, held to the facts it was made
under, made where there is none, and run; and what is done where one graph cannot hold all of the function.
"""
