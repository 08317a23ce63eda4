"""How a ResNet is trained; each entry is an option of train.py."""

CONFIG = {
    "net": "resnet20",
    "epochs": 5,
    "batch": 64,
    "rate": 0.1,
    "momentum": 0.9,
    "weight_decay": 1e-4,
    "seed": 1,
    "rows": 2000,  # of the planted rule
}
