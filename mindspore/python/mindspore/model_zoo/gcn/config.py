"""How a network of graphs is trained; each entry is an option of train.py."""

CONFIG = {
    "net": "gcn",
    "epochs": 60,
    "batch": 1,
    "rate": 0.02,
    "momentum": 0.9,
    "weight_decay": 0.0005,
    "seed": 1,
    "rows": 400,  # of the planted rule
}
