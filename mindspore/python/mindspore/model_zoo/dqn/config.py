"""How DQN is trained; each entry is an option of train.py."""

CONFIG = {
    "hidden": 64,
    "discount": 0.95,
    "memory": 2000,
    "walks": 200,
    "steps": 10,
    "batch": 64,
    "rate": 0.002,
    "seed": 1,
}
