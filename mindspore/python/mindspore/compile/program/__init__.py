"""What the user wrote, and what he reads: the source of a function as a tree that is sure to be what runs, places in it, and
messages that show them. Nothing here knows of graphs. An error says whose it is: the program's, a refusal, or a failure of ours.
"""
