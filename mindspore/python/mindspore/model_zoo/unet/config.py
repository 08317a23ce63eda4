"""How U-Net is trained; each entry is an option of train.py."""

CONFIG = {
    "width": 8,
    "depth": 3,
    "side": 32,
    "epochs": 5,
    "batch": 16,
    "rate": 0.003,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "seed": 1,
    "rows": 400,  # of the planted rule
}
