"""Starts a script in many processes: `msrun --worker_num 4 --local_worker_num 4 --join True train.py`, or `python -m msrun`. It
stands beside `mindspore`, whose import would only delay the start."""
