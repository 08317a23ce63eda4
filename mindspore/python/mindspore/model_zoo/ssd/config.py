"""How SSD is trained; each entry is an option of train.py."""

CONFIG = {
    "side": 64,
    "width": 16,
    "epochs": 8,
    "batch": 32,
    "rate": 0.003,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "seed": 1,
    "rows": 1500,  # of the planted rule
}
