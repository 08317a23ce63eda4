"""How LeNet is trained; each entry is an option of train.py."""

CONFIG = {
    "epochs": 10,
    "batch": 32,
    "rate": 0.02,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "seed": 1,
    "rows": 2000,  # of the planted rule
}
