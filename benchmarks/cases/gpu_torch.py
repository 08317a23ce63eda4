"""Training steps on the device in PyTorch: `python gpu_torch.py PLAN` (gpu.py)."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from cases.gpu_plan import Plan, tell
from cases.language_torch import Bert, Transformer
from cases.vision_torch import LeNet, ResNet50


class GPT(Transformer):
    """A causal language model whose last product is with the words' vectors."""

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, steps: int):
        super().__init__(vocabulary, width, heads, layers, steps)
        del self.head
        for table in (self.tokens.weight, self.places):
            nn.init.normal_(table, std=0.02)

    def forward(self, ids, targets):
        """The loss."""
        x = self.tokens(ids) + self.places
        for layer in self.layers:
            x = layer(x, None)
        scores = functional.linear(self.norm(x), self.tokens.weight)
        return functional.cross_entropy(scores.flatten(0, 1), targets.flatten())


class Classifier(nn.Module):
    """A network and the cross entropy of its scores."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, x, labels):
        """The loss."""
        return functional.cross_entropy(self.net(x), labels)


def network(plan: Plan) -> nn.Module:
    """The one of the plan, which gives its loss."""
    if plan.images:
        return Classifier(LeNet() if plan.name == "lenet" else ResNet50())
    return Bert(*plan.sizes) if plan.name == "bert_base" else GPT(*plan.sizes)


def main() -> None:
    """Runs the plan; the first one of a network leaves its weights for the others."""
    plan = Plan.given()
    device = "cuda" if plan.device == "GPU" and torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    net = network(plan).to(device)
    if plan.weights_file.exists():
        with torch.no_grad():
            for parameter, value in zip(net.parameters(), plan.weights(), strict=True):
                parameter.copy_(torch.from_numpy(value))
    else:
        np.savez(plan.weights_file, *(p.detach().cpu().numpy() for p in net.parameters()))
    inputs = [torch.from_numpy(array).to(device) for array in plan.inputs()]
    if not plan.images:
        inputs = [x.long() if x.dtype == torch.int32 else x for x in inputs]
        optimizer = torch.optim.Adam(net.parameters(), plan.rate, fused=True)
    else:
        net = net.to(memory_format=torch.channels_last)
        inputs = [inputs[0].to(memory_format=torch.channels_last), inputs[1].long()]
        optimizer = torch.optim.SGD(net.parameters(), plan.rate, 0.9)
    forward = torch.compile(net) if plan.compiled else net

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16):
            loss = forward(*inputs)
        loss.backward()
        optimizer.step()
        return loss.detach()

    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    tell(step, float, wait, plan)


if __name__ == "__main__":
    main()
