"""Networks with the programs that train them: `mindspore.model_zoo.lenet`, `mindspore.model_zoo.resnet`.

Each folder has the network, `config.py`, `train.py`, `eval.py`, and a README.md with measured results. The programs run as
`python -m mindspore.model_zoo.lenet.train`, and write only under `--output`.
"""
