"""How the LSTM is trained; each entry is an option of train.py."""

CONFIG = {
    "words": 100,
    "length": 24,
    "width": 32,
    "hidden": 32,
    "epochs": 8,
    "batch": 64,
    "rate": 0.01,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "seed": 1,
    "rows": 6000,  # of the planted rule
}
