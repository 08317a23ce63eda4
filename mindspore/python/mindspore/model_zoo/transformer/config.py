"""How the Transformer is trained; each entry is an option of train.py."""

CONFIG = {
    "length": 8,
    "width": 32,
    "heads": 4,
    "layers": 2,
    "epochs": 8,
    "batch": 64,
    "rate": 0.003,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "seed": 1,
    "rows": 4000,  # of the planted rule
}
