"""Networks with the programs that train them: images (alexnet, densenet, lenet, mobilenetv2, resnet, vgg), parts of images (ssd, unet),
texts (bert, gpt, lstm, transformer, word2vec), clicks (deepfm, wide_deep), graphs (gcn), made images (dcgan), acting (dqn).

Each folder has the network, `config.py`, `train.py`, `eval.py`, and a README.md with measured results; `data.py`, where it has data of
its own. The programs run as `python -m mindspore.model_zoo.lenet.train`, and write only under `--output`. A new network is these files: what
the programs share is in `_programs.py`, and data that several networks learn from in `_data.py`.
"""
