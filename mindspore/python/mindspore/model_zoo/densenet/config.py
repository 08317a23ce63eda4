"""How a DenseNet is trained; each entry is an option of train.py."""

CONFIG = {
    "net": "densenet40",
    "epochs": 3,
    "batch": 64,
    "rate": 0.1,
    "momentum": 0.9,
    "weight_decay": 0.0001,
    "seed": 1,
    "rows": 2000,  # of the planted rule
}
