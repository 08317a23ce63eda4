"""How GPT is trained; each entry is an option of train.py."""

CONFIG = {
    "words": 16,
    "length": 16,
    "period": 5,
    "width": 32,
    "heads": 4,
    "layers": 2,
    "epochs": 10,
    "batch": 64,
    "rate": 0.005,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "seed": 1,
    "rows": 4000,  # of the planted rule
}
