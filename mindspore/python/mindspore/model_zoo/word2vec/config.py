"""How word2vec is trained; each entry is an option of train.py."""

CONFIG = {
    "words": 60,
    "topics": 5,
    "negatives": 4,
    "width": 16,
    "epochs": 6,
    "batch": 64,
    "rate": 0.02,
    "momentum": 0.9,
    "weight_decay": 0.0,
    "seed": 1,
    "rows": 6000,  # of the planted rule
}
