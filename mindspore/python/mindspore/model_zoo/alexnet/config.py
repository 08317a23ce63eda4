"""How AlexNet is trained; each entry is an option of train.py."""

CONFIG = {
    "epochs": 5,
    "batch": 64,
    "rate": 0.02,
    "momentum": 0.9,
    "weight_decay": 0.0001,
    "seed": 1,
    "rows": 2000,  # of the planted rule
}
