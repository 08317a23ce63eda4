"""What a tensor decides, so that the compiler cannot: which arm of a branch runs, how often a loop turns, how deep a recursion
goes. All ways are walked, each into a graph of its own, from one state; where they meet, what differs is joined.
"""
