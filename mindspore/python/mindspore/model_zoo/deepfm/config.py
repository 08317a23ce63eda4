"""How DeepFM is trained; each entry is an option of train.py."""

CONFIG = {
    "fields": 8,
    "values": 20,
    "width": 8,
    "hidden": 64,
    "epochs": 6,
    "batch": 128,
    "rate": 0.01,
    "momentum": 0.9,
    "weight_decay": 1e-05,
    "seed": 1,
    "rows": 20000,  # of the planted rule
}
