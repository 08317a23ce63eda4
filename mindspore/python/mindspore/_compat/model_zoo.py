"""`mindspore.model_zoo`: networks are made of `nn`; this package brings none ready."""
