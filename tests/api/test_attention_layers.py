"""nn.MultiheadAttention, the Transformer layers and flash_attention_score: against PyTorch, in both modes."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore
from mindspore import Tensor, context, nn, ops


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], autouse=True)
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=before)


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def copy_parameters(net, peer):
    """The peer's parameters; norms are called otherwise there."""
    theirs = dict(peer.named_parameters())
    spelled = {"gamma": "weight", "beta": "bias"}
    for name, parameter in net.parameters_and_names():
        *path, last = name.replace("dense1", "linear1").replace("dense2", "linear2").split(".")
        source = theirs.pop(".".join([*path, spelled.get(last, last)]))
        parameter.set_data(Tensor(source.detach().numpy()))
    assert not theirs


def agree(ours, theirs):
    np.testing.assert_allclose(ours.asnumpy(), theirs.detach().numpy(), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_first": True},
        {"kdim": 6, "vdim": 10},
        {"add_bias_kv": True, "add_zero_attn": True},
    ],
)
def test_multihead_attention(options, need_weights):
    net = nn.MultiheadAttention(8, 2, **options)
    peer = torch.nn.MultiheadAttention(8, 2, **options)
    copy_parameters(net, peer)
    first = options.get("batch_first", False)
    shape = (lambda n, d: (3, n, d)) if first else (lambda n, d: (n, 3, d))
    q = values(*shape(5, 8), seed=1)
    k = values(*shape(4, options.get("kdim", 8)), seed=2)
    v = values(*shape(4, options.get("vdim", 8)), seed=3)
    padding = np.zeros((3, 4), bool)
    padding[1, 2:] = True
    ours = net(*map(Tensor, (q, k, v)), Tensor(padding), need_weights)
    theirs = peer(*map(torch.tensor, (q, k, v)), torch.tensor(padding), need_weights)
    agree(ours[0], theirs[0])
    assert len(ours) == 1 + need_weights
    if need_weights:
        agree(ours[1], theirs[1])


def test_masks_of_heads_and_no_batch():
    net, peer = nn.MultiheadAttention(8, 2), torch.nn.MultiheadAttention(8, 2)
    copy_parameters(net, peer)
    x = values(5, 3, 8)
    mask = values(6, 5, 5, seed=4)
    t = torch.tensor(x)
    agree(
        net(Tensor(x), Tensor(x), Tensor(x), None, False, Tensor(mask))[0],
        peer(t, t, t, None, False, torch.tensor(mask))[0],
    )
    one = torch.tensor(x[:, 0])
    causal = np.triu(np.ones((5, 5), bool), 1)
    y = Tensor(x[:, 0])
    ours = net(y, y, y, attn_mask=Tensor(causal), average_attn_weights=False)
    theirs = peer(one, one, one, attn_mask=torch.tensor(causal), average_attn_weights=False)
    agree(ours[0], theirs[0])
    agree(ours[1], theirs[1])


@pytest.mark.parametrize("options", [{}, {"norm_first": True, "activation": "gelu"}])
def test_encoder_and_decoder_layers(options):
    x, memory = values(5, 3, 8), values(4, 3, 8, seed=5)
    causal = np.triu(np.full((5, 5), -np.inf, np.float32), 1)
    net = nn.TransformerEncoderLayer(8, 2, 16, 0.0, **options)
    peer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, **options)
    copy_parameters(net, peer)
    agree(net(Tensor(x), Tensor(causal)), peer(torch.tensor(x), torch.tensor(causal)))
    net = nn.TransformerDecoderLayer(8, 2, 16, 0.0, **options)
    peer = torch.nn.TransformerDecoderLayer(8, 2, 16, 0.0, **options)
    copy_parameters(net, peer)
    agree(
        net(Tensor(x), Tensor(memory), Tensor(causal)),
        peer(torch.tensor(x), torch.tensor(memory), torch.tensor(causal)),
    )


def test_transformer_and_its_gradients():
    settings = (8, 2, 2, 2, 16, 0.0)
    net, peer = nn.Transformer(*settings), torch.nn.Transformer(*settings)
    copy_parameters(net, peer)
    src, tgt = values(4, 3, 8), values(5, 3, 8, seed=6)
    agree(net(Tensor(src), Tensor(tgt)), peer(torch.tensor(src), torch.tensor(tgt)))

    def loss(a, b):
        return (net(a, b) ** 3).sum()

    given = torch.tensor(src, requires_grad=True)
    (peer(given, torch.tensor(tgt)) ** 3).sum().backward()
    dsrc, grads = mindspore.grad(loss, 0, net.trainable_params())(Tensor(src), Tensor(tgt))
    np.testing.assert_allclose(dsrc.asnumpy(), given.grad.numpy(), rtol=1e-3, atol=1e-4)
    names = [p.name for p in net.trainable_params()]
    at = names.index("encoder.layers.1.self_attn.in_proj_weight")
    wanted = dict(peer.named_parameters())["encoder.layers.1.self_attn.in_proj_weight"].grad
    np.testing.assert_allclose(grads[at].asnumpy(), wanted.numpy(), rtol=1e-3, atol=1e-4)


def test_layers_drop_in_training_only():
    net = nn.TransformerEncoderLayer(8, 2, 16, 0.5, batch_first=True)
    x = Tensor(values(2, 5, 8))
    net.set_train(False)
    np.testing.assert_array_equal(net(x).asnumpy(), net(x).asnumpy())
    net.set_train()
    assert np.abs(net(x).asnumpy() - net(x).asnumpy()).max() > 1e-3


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: nn.MultiheadAttention(8, 3), "'embed_dim' must be divisible by 'num_heads'"),
        (lambda: nn.MultiheadAttention(8, 2, dropout=1.0), "'dropout'"),
        (lambda: nn.MultiheadAttention(8, 2)(*[Tensor(values(2, 2, 2, 8))] * 3), "2 or all have 3"),
        (lambda: nn.MultiheadAttention(8, 2)(*[Tensor(values(2, 2, 6))] * 3), "the widths of"),
        (
            lambda: nn.MultiheadAttention(8, 2)(
                *[Tensor(values(5, 3, 8))] * 3, attn_mask=Tensor(values(2, 2))
            ),
            "'attn_mask' must have shape",
        ),
        (
            lambda: nn.MultiheadAttention(8, 2)(
                *[Tensor(values(5, 3, 8))] * 3, key_padding_mask=Tensor(values(2, 2))
            ),
            "'key_padding_mask' must have shape",
        ),
        (
            lambda: nn.Transformer(8, 2, 1, 1, 16)(
                Tensor(values(4, 3, 8)), Tensor(values(4, 2, 8))
            ),
            "the same batch size",
        ),
        (
            lambda: nn.Transformer(8, 2, 1, 1, 16)(
                Tensor(values(4, 3, 8)), Tensor(values(4, 3, 4))
            ),
            "the width 8",
        ),
    ],
)
def test_refusals_of_layers(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_activation_of_a_wrong_type():
    with pytest.raises(TypeError, match="'activation' must be"):
        nn.TransformerEncoderLayer(8, 2, activation=3)


# ---- flash_attention_score -----------------------------------------------------------------------
def reference(q, k, v, shift=0.0, hidden=None):
    s = np.einsum("bnid,bnjd->bnij", q, k) * 0.5 + shift
    s = s if hidden is None else np.where(hidden, -1e30, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bnij,bnjd->bnid", p / p.sum(-1, keepdims=True), v)


@pytest.mark.parametrize("layout", ["BSH", "SBH", "BNSD", "BSND"])
def test_flash_attention_score_layouts(layout):
    q, k, v = values(2, 4, 5, 8), values(2, 2, 6, 8, seed=1), values(2, 2, 6, 8, seed=2)
    wanted = reference(q, np.repeat(k, 2, 1), np.repeat(v, 2, 1))

    def arrange(x):
        b, n, s, d = x.shape
        if layout == "BNSD":
            return x
        if layout == "SBH":
            return x.transpose(2, 0, 1, 3).reshape(s, b, n * d)
        x = x.transpose(0, 2, 1, 3)
        return x if layout == "BSND" else x.reshape(b, s, n * d)

    out = ops.flash_attention_score(
        *[Tensor(arrange(x)) for x in (q, k, v)], 4, scalar_value=0.5, input_layout=layout
    )
    np.testing.assert_allclose(out.asnumpy(), arrange(wanted), rtol=1e-4, atol=1e-5)


def test_flash_attention_score_masks():
    q, k, v = (values(2, 3, 4, 8, seed=s) for s in range(3))
    late = np.triu(np.ones((4, 4), bool), 1)
    shift = values(2, 3, 4, 4, seed=7)

    def run(**options):
        given = [Tensor(x) for x in (q, k, v)]
        out = ops.flash_attention_score(*given, 3, scalar_value=0.5, input_layout="BNSD", **options)
        return out.asnumpy()

    for found, wanted in (
        (run(attn_mask=Tensor(late.astype(np.uint8))), reference(q, k, v, hidden=late)),
        (run(sparse_mode=2), reference(q, k, v, hidden=late)),
        (run(sparse_mode=3), reference(q, k, v, hidden=late)),
        (run(real_shift=Tensor(shift)), reference(q, k, v, shift)),
        (
            run(real_shift=Tensor(shift), attn_mask=Tensor(late)),
            reference(q, k, v, shift, late),
        ),
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    dropped = run(keep_prob=0.5)
    assert np.isfinite(dropped).all() and np.abs(dropped - reference(q, k, v)).max() > 1e-3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"head_num": 0}, "'head_num' must be a positive int"),
        ({"head_num": 3}, "must be divisible by the number of heads"),
        ({"input_layout": "TND"}, "'input_layout' must be one of"),
        ({"input_layout": "BNSD"}, "must have 4 dimensions"),
        ({"sparse_mode": 4}, "'sparse_mode' must be one of 0, 1, 2, 3"),
        ({"keep_prob": 0.0}, "'keep_prob' must be in"),
        ({"prefix": (1, 2)}, "'prefix' must be None"),
        ({"attn_mask": np.zeros((4, 4), bool), "next_tokens": 0}, "'pre_tokens' and 'next_tokens'"),
        ({"attn_mask": np.zeros((4, 3), bool)}, "'mask' must broadcast to"),
    ],
)
def test_flash_attention_score_refuses(options, says):
    x = Tensor(values(2, 4, 8))
    given = {"head_num": 2, **options}
    if "attn_mask" in given:
        given["attn_mask"] = Tensor(given["attn_mask"])
    with pytest.raises(ValueError, match=says):
        ops.flash_attention_score(x, x, x, **given)


def test_flash_attention_score_wants_tensors():
    with pytest.raises(TypeError, match="'flash_attention_score', 'query' must be a Tensor"):
        ops.flash_attention_score(1.0, Tensor(values(2, 4, 8)), Tensor(values(2, 4, 8)), 2)
