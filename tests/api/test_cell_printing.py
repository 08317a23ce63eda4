"""What cells, optimizers and primitives print: their settings and the cells within, but no weights."""

from __future__ import annotations

import pytest

from mindspore import Parameter, Tensor, nn, ops

# Those that say no more than their name.
BARE = [
    lambda: nn.EmbeddingLookup(10, 4),
    lambda: nn.AdaptiveAvgPool1d(2),
    lambda: nn.AdaptiveAvgPool2d(2),
    lambda: nn.LSTMCell(3, 4),
    lambda: nn.GRUCell(3, 4),
    lambda: nn.RNNCell(3, 4),
    lambda: nn.ReLU(),
    lambda: nn.ReLU6(),
    lambda: nn.LeakyReLU(),
    lambda: nn.LeakyReLU(0.1),
    lambda: nn.Sigmoid(),
    lambda: nn.Tanh(),
    lambda: nn.Softmax(),
    lambda: nn.Softmax(axis=1),
    lambda: nn.LogSoftmax(),
    lambda: nn.GELU(),
    lambda: nn.GELU(approximate=False),
    lambda: nn.ELU(),
    lambda: nn.SeLU(),
    lambda: nn.CELU(),
    lambda: nn.SiLU(),
    lambda: nn.Mish(),
    lambda: nn.PReLU(),
    lambda: nn.HSigmoid(),
    lambda: nn.HSwish(),
    lambda: nn.HShrink(),
    lambda: nn.SoftShrink(),
    lambda: nn.Softsign(),
    lambda: nn.LogSigmoid(),
    lambda: nn.FastGelu(),
    lambda: nn.Threshold(0.1, 2),
    lambda: nn.Hardtanh(),
    lambda: nn.Tanhshrink(),
    lambda: nn.GLU(),
    lambda: nn.Softmin(),
    lambda: nn.Softmax2d(),
    lambda: nn.Flatten(),
    lambda: nn.Flatten(1, 2),
    lambda: nn.Identity(),
    lambda: nn.Pad(((1, 1), (1, 1))),
    lambda: nn.ZeroPad2d(1),
    lambda: nn.ConstantPad1d(1, 0.5),
    lambda: nn.ReflectionPad2d(1),
    lambda: nn.ReplicationPad2d(1),
    lambda: nn.Upsample(scale_factor=2.0),
    lambda: nn.PixelShuffle(2),
    lambda: nn.PixelUnshuffle(2),
    lambda: nn.OneHot(depth=3),
    lambda: nn.ClipByNorm(),
    lambda: nn.Tril(),
    lambda: nn.Triu(),
    lambda: nn.PSNR(),
    lambda: nn.Moments(),
    lambda: nn.ReduceLogSumExp(0),
    lambda: nn.Range(0, 3),
    lambda: nn.MatMul(),
    lambda: nn.SequentialCell(),
    lambda: nn.CellList(),
    lambda: nn.L1Loss(),
    lambda: nn.MSELoss(),
    lambda: nn.MSELoss(reduction="sum"),
    lambda: nn.SmoothL1Loss(),
    lambda: nn.HuberLoss(),
    lambda: nn.SoftMarginLoss(),
    lambda: nn.SoftmaxCrossEntropyWithLogits(),
    lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
    lambda: nn.CrossEntropyLoss(),
    lambda: nn.NLLLoss(),
    lambda: nn.BCELoss(),
    lambda: nn.BCEWithLogitsLoss(),
    lambda: nn.KLDivLoss(),
    lambda: nn.CosineEmbeddingLoss(),
    lambda: nn.DiceLoss(),
    lambda: nn.MAELoss(),
    lambda: nn.MarginRankingLoss(),
    lambda: nn.HingeEmbeddingLoss(),
    lambda: nn.SGD(nn.Dense(2, 2).trainable_params(), 0.1),
    lambda: nn.Momentum(nn.Dense(2, 2).trainable_params(), 0.1, 0.9),
    lambda: nn.Adam(nn.Dense(2, 2).trainable_params()),
    lambda: nn.AdamWeightDecay(nn.Dense(2, 2).trainable_params()),
    lambda: nn.RMSProp(nn.Dense(2, 2).trainable_params()),
    lambda: nn.Adagrad(nn.Dense(2, 2).trainable_params()),
    lambda: nn.Lamb(nn.Dense(2, 2).trainable_params(), 0.1),
    lambda: nn.FTRL(nn.Dense(2, 2).trainable_params()),
    lambda: nn.AdaMax(nn.Dense(2, 2).trainable_params()),
    lambda: nn.Adadelta(nn.Dense(2, 2).trainable_params()),
    lambda: nn.ExponentialDecayLR(0.1, 0.9, 4),
    lambda: nn.CosineDecayLR(0.1, 0.2, 4),
    lambda: nn.WarmUpLR(0.1, 4),
    lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5),
    lambda: nn.InverseDecayLR(0.1, 0.9, 4),
    lambda: nn.NaturalExpDecayLR(0.1, 0.9, 4),
    lambda: nn.DynamicLossScaleUpdateCell(1024, 2, 100),
    lambda: nn.FixedLossScaleUpdateCell(1024),
    lambda: nn.Cell(),
]

SETTINGS = [
    (
        lambda: nn.Embedding(10, 4),
        "Embedding(vocab_size=10, embedding_size=4, use_one_hot=False, embedding_table=Parameter (name=embedding_table, shape=(10, 4), dtype=Float32, requires_grad=True), dtype=Float32, padding_idx=None)",
    ),
    (
        lambda: nn.BatchNorm1d(3),
        "BatchNorm1d(num_features=3, eps=1e-05, momentum=0.9, gamma=Parameter (name=gamma, shape=(3,), dtype=Float32, requires_grad=True), beta=Parameter (name=beta, shape=(3,), dtype=Float32, requires_grad=True), moving_mean=Parameter (name=mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=variance, shape=(3,), dtype=Float32, requires_grad=False))",
    ),
    (
        lambda: nn.BatchNorm2d(3),
        "BatchNorm2d(num_features=3, eps=1e-05, momentum=0.9, gamma=Parameter (name=gamma, shape=(3,), dtype=Float32, requires_grad=True), beta=Parameter (name=beta, shape=(3,), dtype=Float32, requires_grad=True), moving_mean=Parameter (name=mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=variance, shape=(3,), dtype=Float32, requires_grad=False))",
    ),
    (
        lambda: nn.BatchNorm2d(3, eps=1e-3, momentum=0.8, affine=False, use_batch_statistics=True),
        "BatchNorm2d(num_features=3, eps=0.001, momentum=0.8, gamma=Parameter (name=gamma, shape=(3,), dtype=Float32, requires_grad=False), beta=Parameter (name=beta, shape=(3,), dtype=Float32, requires_grad=False), moving_mean=Parameter (name=mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=variance, shape=(3,), dtype=Float32, requires_grad=False))",
    ),
    (
        lambda: nn.SyncBatchNorm(3),
        "SyncBatchNorm(num_features=3, eps=1e-05, momentum=0.9, gamma=Parameter (name=gamma, shape=(3,), dtype=Float32, requires_grad=True), beta=Parameter (name=beta, shape=(3,), dtype=Float32, requires_grad=True), moving_mean=Parameter (name=mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=variance, shape=(3,), dtype=Float32, requires_grad=False))",
    ),
    (lambda: nn.GroupNorm(2, 4), "GroupNorm(num_groups=2, num_channels=4)"),
    (lambda: nn.GroupNorm(2, 4, affine=False), "GroupNorm(num_groups=2, num_channels=4)"),
    (
        lambda: nn.InstanceNorm1d(3),
        "InstanceNorm1d(num_features=3, eps=1e-05, momentum=0.1, gamma=Parameter (name=gamma, shape=(3,), dtype=Float32, requires_grad=True), beta=Parameter (name=beta, shape=(3,), dtype=Float32, requires_grad=True), moving_mean=Parameter (name=mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=variance, shape=(3,), dtype=Float32, requires_grad=False))",
    ),
    (
        lambda: nn.InstanceNorm2d(3),
        "InstanceNorm2d(num_features=3, eps=1e-05, momentum=0.1, gamma=Parameter (name=gamma, shape=(3,), dtype=Float32, requires_grad=True), beta=Parameter (name=beta, shape=(3,), dtype=Float32, requires_grad=True), moving_mean=Parameter (name=mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=variance, shape=(3,), dtype=Float32, requires_grad=False))",
    ),
    (
        lambda: nn.InstanceNorm3d(3),
        "InstanceNorm3d(num_features=3, eps=1e-05, momentum=0.1, gamma=Parameter (name=gamma, shape=(3,), dtype=Float32, requires_grad=True), beta=Parameter (name=beta, shape=(3,), dtype=Float32, requires_grad=True), moving_mean=Parameter (name=mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=variance, shape=(3,), dtype=Float32, requires_grad=False))",
    ),
    (lambda: nn.Dense(3, 4), "Dense(input_channels=3, output_channels=4, has_bias=True)"),
    (lambda: nn.Dense(3, 4, has_bias=False), "Dense(input_channels=3, output_channels=4)"),
    (lambda: nn.Dropout(), "Dropout(keep_prob=0.5)"),
    (lambda: nn.Dropout(p=0.3), "Dropout(p=0.3)"),
    (lambda: nn.Dropout(keep_prob=0.3), "Dropout(keep_prob=0.3)"),
    (lambda: nn.Dropout3d(), "Dropout3d(p=0.5)"),
    (lambda: nn.MaxPool1d(2), "MaxPool1d(kernel_size=(1, 2), stride=(1, 1), pad_mode=VALID)"),
    (lambda: nn.MaxPool2d(2, 2), "MaxPool2d(kernel_size=2, stride=2, pad_mode=VALID)"),
    (
        lambda: nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same"),
        "MaxPool2d(kernel_size=3, stride=2, pad_mode=SAME)",
    ),
    (lambda: nn.AvgPool1d(2), "AvgPool1d(kernel_size=(1, 2), stride=(1, 1), pad_mode=VALID)"),
    (lambda: nn.AvgPool2d(2, 2), "AvgPool2d(kernel_size=2, stride=2, pad_mode=VALID)"),
    (lambda: nn.Norm(), "Norm(axis=(), keep_dims=False)"),
    (lambda: ops.ReLU(), "Prim[ReLU]"),
    (lambda: ops.MatMul(transpose_b=True), "Prim[MatMul]<transpose_a=False, transpose_b=True>"),
    (lambda: ops.ReduceSum(keep_dims=True), "Prim[ReduceSum]<keep_dims=True, skip_mode=False>"),
    (lambda: ops.Softmax(), "Prim[Softmax]<axis=(-1,)>"),
    (lambda: ops.Cast(), "Prim[Cast]"),
    (lambda: ops.Add(), "Prim[Add]"),
]

NESTED = [
    (
        lambda: nn.BatchNorm3d(3),
        "BatchNorm3d(\n  (bn2d): BatchNorm2d(num_features=3, eps=1e-05, momentum=0.9, gamma=Parameter (name=bn2d.gamma, shape=(3,), dtype=Float32, requires_grad=True), beta=Parameter (name=bn2d.beta, shape=(3,), dtype=Float32, requires_grad=True), moving_mean=Parameter (name=bn2d.moving_mean, shape=(3,), dtype=Float32, requires_grad=False), moving_variance=Parameter (name=bn2d.moving_variance, shape=(3,), dtype=Float32, requires_grad=False))\n)",
    ),
    (
        lambda: nn.Dense(3, 4, activation="relu"),
        "Dense(\n  input_channels=3, output_channels=4, has_bias=True, activation=ReLU()\n  (activation): ReLU()\n)",
    ),
    (
        lambda: nn.Dense(3, 4, activation=nn.ReLU()),
        "Dense(\n  input_channels=3, output_channels=4, has_bias=True, activation=ReLU()\n  (activation): ReLU()\n)",
    ),
    (
        lambda: nn.Conv2dBnAct(3, 4, 3),
        "Conv2dBnAct(\n  (conv): Conv2d(input_channels=3, output_channels=4, kernel_size=(3, 3), stride=(1, 1), pad_mode=same, padding=0, dilation=(1, 1), group=1, has_bias=False, weight_init=normal, bias_init=zeros, format=NCHW)\n)",
    ),
    (
        lambda: nn.DenseBnAct(3, 4),
        "DenseBnAct(\n  (dense): Dense(input_channels=3, output_channels=4, has_bias=True)\n)",
    ),
    (
        lambda: nn.SequentialCell([nn.Dense(2, 3), nn.ReLU()]),
        "SequentialCell(\n  (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n  (1): ReLU()\n)",
    ),
    (
        lambda: nn.SequentialCell(nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1)),
        "SequentialCell(\n  (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n  (1): ReLU()\n  (2): Dense(input_channels=3, output_channels=1, has_bias=True)\n)",
    ),
    (
        lambda: nn.CellList([nn.Dense(2, 3), nn.ReLU()]),
        "CellList(\n  (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n  (1): ReLU()\n)",
    ),
    (
        lambda: nn.CellDict({"a": nn.Dense(2, 3), "b": nn.ReLU()}),
        "CellDict(\n  (a): Dense(input_channels=2, output_channels=3, has_bias=True)\n  (b): ReLU()\n)",
    ),
    (
        lambda: nn.MultiheadAttention(4, 2),
        "MultiheadAttention(\n  (out_proj): Dense(input_channels=4, output_channels=4, has_bias=True)\n)",
    ),
    (
        lambda: nn.Momentum(
            nn.Dense(2, 2).trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 4), 0.9
        ),
        "Momentum(\n  (learning_rate): ExponentialDecayLR()\n)",
    ),
    (
        lambda: nn.LARS(nn.Momentum(nn.Dense(2, 2).trainable_params(), 0.1, 0.9)),
        "LARS(\n  (opt): Momentum()\n)",
    ),
    (
        lambda: nn.WithLossCell(nn.Dense(2, 2), nn.MSELoss()),
        "WithLossCell(\n  (_backbone): Dense(input_channels=2, output_channels=2, has_bias=True)\n  (_loss_fn): MSELoss()\n)",
    ),
    (
        lambda: nn.TrainOneStepCell(
            nn.WithLossCell(nn.Dense(2, 2), nn.MSELoss()),
            nn.SGD(nn.Dense(2, 2).trainable_params(), 0.1),
        ),
        "TrainOneStepCell(\n  (network): WithLossCell(\n    (_backbone): Dense(input_channels=2, output_channels=2, has_bias=True)\n    (_loss_fn): MSELoss()\n  )\n  (optimizer): SGD()\n  (grad_reducer): Identity()\n)",
    ),
    (
        lambda: nn.WithEvalCell(nn.Dense(2, 2), nn.MSELoss()),
        "WithEvalCell(\n  (_network): Dense(input_channels=2, output_channels=2, has_bias=True)\n  (_loss_fn): MSELoss()\n)",
    ),
    (
        lambda: nn.ForwardValueAndGrad(nn.Dense(2, 2)),
        "ForwardValueAndGrad(\n  (network): Dense(input_channels=2, output_channels=2, has_bias=True)\n)",
    ),
]


class Net(nn.Cell):
    """Cells, a Parameter, a number, nothing, and a cell that has two names."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.Dense(2, 3), nn.Dense(3, 2, has_bias=False)])
        self.act = nn.ReLU()
        self.weight = Parameter(Tensor([1.0]), name="weight")
        self.count, self.nothing = 3, None
        self.shared = self.layers[0]

    def extend_repr(self) -> str:
        return f"count={self.count}"


@pytest.mark.parametrize("make", BARE)
def test_names(make) -> None:
    made = make()
    assert repr(made) == str(made) == f"{type(made).__name__}()"


@pytest.mark.parametrize(("make", "text"), SETTINGS + NESTED)
def test_settings_and_cells_within(make, text: str) -> None:
    assert repr(make()) == str(make()) == text


def test_cells_of_users(capsys: pytest.CaptureFixture) -> None:
    print(Net())
    assert capsys.readouterr().out == (
        "Net(\n"
        "  count=3\n"
        "  (layers): CellList(\n"
        "    (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n"
        "    (1): Dense(input_channels=3, output_channels=2)\n"
        "  )\n"
        "  (act): ReLU()\n"
        "  (shared): Dense(input_channels=2, output_channels=3, has_bias=True)\n"
        ")\n"
    )


def test_no_weights() -> None:
    weights = nn.Dense(2, 2).trainable_params()
    for make in (nn.SGD, nn.Adam, nn.AdamWeightDecay, nn.RMSProp, nn.Lamb):
        optimizer = make(weights, learning_rate=0.1)
        assert repr(optimizer) == f"{make.__name__}()"


def test_primitives() -> None:
    assert repr(ops.ReLU()) == "Prim[ReLU]"
    assert repr(ops.MatMul(transpose_b=True)) == "Prim[MatMul]<transpose_a=False, transpose_b=True>"
