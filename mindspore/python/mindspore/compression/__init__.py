"""Training for quantised inference, as in the first releases: layers are in `mindspore.nn.layer.quant`."""
