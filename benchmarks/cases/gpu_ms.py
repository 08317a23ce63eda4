"""Training steps on the device, on the MindSpore API: `python gpu_ms.py PLAN` (gpu.py)."""

from __future__ import annotations

import mindspore as ms
from cases.gpu_plan import Plan, tell
from cases.language_ms import Attention, Bert, Transformer
from cases.vision_ms import LeNet, ResNet50
from mindspore import Tensor, nn, ops


class CausalAttention(Attention):
    """Self-attention to what came before."""

    def construct(self, x, mask):
        """Mixed values; the mask is not needed."""
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        mixed = ops.flash_attention_score(
            *(q, k, v, self.heads),
            scalar_value=self.size**-0.5,
            input_layout="BNSD",
            sparse_mode=2,
        )
        b, n, width = x.shape
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(b, n, width))


class GPT(Transformer):
    """A causal language model whose last product is with the words' vectors."""

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, steps: int):
        super().__init__(vocabulary, width, heads, layers, steps, CausalAttention)
        del self.head

    def construct(self, ids, targets):
        """The loss."""
        x = self.tokens(ids) + self.places
        for layer in self.layers:
            x = layer(x, None)
        scores = ops.matmul(self.norm(x), self.tokens.embedding_table.T)
        return self.loss(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))


class Classifier(nn.Cell):
    """A network and the cross entropy of its scores."""

    def __init__(self, net: nn.Cell):
        super().__init__()
        self.net, self.loss = net, nn.CrossEntropyLoss()

    def construct(self, x, labels):
        """The loss."""
        return self.loss(self.net(x), labels)


def network(plan: Plan) -> nn.Cell:
    """The one of the plan, which gives its loss."""
    if plan.name == "lenet":
        return Classifier(LeNet(biased=True))
    if plan.name == "resnet50":
        return Classifier(ResNet50())
    return Bert(*plan.sizes) if plan.name == "bert_base" else GPT(*plan.sizes)


def main() -> None:
    """Runs the plan."""
    plan = Plan.given()
    ms.set_context(device_target=plan.device, mode=ms.GRAPH_MODE)
    net = network(plan)
    for parameter, value in zip(net.trainable_params(), plan.weights(), strict=True):
        assert parameter.shape == value.shape, (parameter.name, parameter.shape, value.shape)
        parameter.set_data(Tensor(value))
    params = net.trainable_params()
    rate = plan.rate
    optimizer = nn.Momentum(params, rate, 0.9) if plan.images else nn.Adam(params, rate)
    step = nn.TrainOneStepCell(ms.amp.auto_mixed_precision(net, "auto", ms.bfloat16), optimizer)
    step.set_train()
    inputs = [Tensor(array) for array in plan.inputs()]
    tell(lambda: step(*inputs), lambda loss: float(loss.asnumpy()), ms.runtime.synchronize, plan)


if __name__ == "__main__":
    main()
