"""How MobileNetV2 is trained; each entry is an option of train.py."""

CONFIG = {
    "width": 0.25,
    "epochs": 5,
    "batch": 64,
    "rate": 0.05,
    "momentum": 0.9,
    "weight_decay": 4e-05,
    "seed": 1,
    "rows": 2000,  # of the planted rule
}
