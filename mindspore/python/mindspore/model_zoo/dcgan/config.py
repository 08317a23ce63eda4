"""How DCGAN is trained; each entry is an option of train.py."""

CONFIG = {
    "size": 16,
    "width": 16,
    "epochs": 20,
    "batch": 32,
    "rate": 0.001,
    "seed": 1,
    "rows": 1024,  # of the planted rule
}
