"""Calls of recurrent layers, attention and transformers."""

from differential.calllib import at, b1, case, f16, f32, i32, made, of, value_of

STEPS, BATCH_FIRST = f32(5, 3, 4), f32(3, 5, 4)
STATE, STATES, BOTH = f32(3, 2), f32(1, 3, 2), f32(2, 3, 2)
LENGTHS = of([5, 2, 3], "int32")

# ---- recurrent --------------------------------------------------------------------------------
made("nn.RNN", 4, 2)(STEPS, STATES, tol=3e-4)
made("nn.GRU", 4, 2)(STEPS, STATES, tol=3e-4)
made("nn.LSTM", 4, 2)(STEPS, (STATES, f32(1, 3, 2, seed=1)), tol=3e-4)
for name in ("RNN", "GRU", "LSTM"):
    pair = (lambda x: (x, x)) if name == "LSTM" else (lambda x: x)
    made(f"nn.{name}", 4, 2)(STEPS, tol=3e-4)
    made(f"nn.{name}", 4, 2)(STEPS, pair(STATES), LENGTHS, tol=3e-4)
    made(f"nn.{name}", 4, 2, batch_first=True)(BATCH_FIRST, pair(STATES), tol=3e-4)
    made(f"nn.{name}", 4, 2, bidirectional=True)(STEPS, pair(BOTH), tol=3e-4)
    made(f"nn.{name}", 4, 2, bidirectional=True)(STEPS, pair(BOTH), LENGTHS, tol=3e-4)
    made(f"nn.{name}", 4, 2, num_layers=2)(STEPS, pair(BOTH), tol=3e-4)
    made(f"nn.{name}", 4, 2, num_layers=2, bidirectional=True, has_bias=False)(
        STEPS, pair(f32(4, 3, 2)), tol=3e-4
    )
    made(f"nn.{name}", 4, 2, 1, True, True, 0.0, True)(BATCH_FIRST, pair(BOTH), LENGTHS, tol=3e-4)
    made(f"nn.{name}", 4, 2, num_layers=2, dropout=0.5)(STEPS, pair(BOTH), tol=3e-4)
    made(f"nn.{name}", 4, 2)(f16(5, 3, 4), pair(f16(1, 3, 2)))
    made(f"nn.{name}", 4, 2)(f32(5, 3, 3), pair(STATES))
    made(f"nn.{name}", 4, 2)(STEPS, pair(BOTH))
    made(f"nn.{name}", 4, 2)(f32(5, 4), pair(STATES))
    made(f"nn.{name}", 4, 2, dropout=1.5)(STEPS, pair(STATES))
    made(f"nn.{name}", 0, 2)(STEPS, pair(STATES))
    made(f"nn.{name}", 4, 2, num_layers=0)(STEPS, pair(STATES))
    made(f"nn.{name}", 4, 2, batch_first=1)(STEPS, pair(STATES))
made("nn.RNN", 4, 2, nonlinearity="relu")(STEPS, STATES, tol=3e-4)
made("nn.RNN", 4, 2, nonlinearity="selu")(STEPS, STATES, tol=3e-4)
made("nn.RNNCell", 4, 2)(f32(3, 4), STATE, grad=True)
made("nn.RNNCell", 4, 2, False, "relu")(f32(3, 4), STATE, grad=True)
made("nn.RNNCell", 4, 2, nonlinearity="step")(f32(3, 4), STATE)
made("nn.GRUCell", 4, 2)(f32(3, 4), STATE, grad=True, tol=2e-5)
made("nn.GRUCell", 4, 2, False)(f32(3, 4), STATE, tol=3e-4)
made("nn.LSTMCell", 4, 2)(f32(3, 4), (STATE, f32(3, 2, seed=1)), tol=2e-5)
made("nn.LSTMCell", 4, 2, False)(f32(3, 4), (STATE, STATE), tol=3e-4)
for name in ("RNNCell", "GRUCell"):
    made(f"nn.{name}", 4, 2)(f32(3, 5), STATE)
    made(f"nn.{name}", 4, 2)(f32(3, 4), f32(3, 3))
    made(f"nn.{name}", 4, 2)(f32(3, 4), f32(2, 2))
    made(f"nn.{name}", 0, 2)(f32(3, 4), STATE)
made("nn.LSTMCell", 4, 2)(f32(3, 5), (STATE, STATE))
made("nn.LSTMCell", 4, 2)(f32(3, 4), (STATE, f32(3, 3)))
made("nn.LSTMCell", 4, 0)(f32(3, 4), (STATE, STATE))

# ---- attention --------------------------------------------------------------------------------
QUERY, KEY, VALUE = f32(5, 3, 4), f32(6, 3, 4, seed=1), f32(6, 3, 4, seed=2)
made("nn.MultiheadAttention", 4, 2)(QUERY, KEY, VALUE, tol=3e-4)
made("nn.MultiheadAttention", 4, 2)(QUERY, KEY, VALUE, need_weights=False, tol=3e-4)
made("nn.MultiheadAttention", 4, 2)(QUERY, KEY, VALUE, average_attn_weights=False, tol=3e-4)
made("nn.MultiheadAttention", 4, 1, has_bias=False)(QUERY, KEY, VALUE, tol=3e-4)
made("nn.MultiheadAttention", 4, 2, add_bias_kv=True)(QUERY, KEY, VALUE, tol=3e-4)
made("nn.MultiheadAttention", 4, 2, add_zero_attn=True)(QUERY, KEY, VALUE, tol=3e-4)
made("nn.MultiheadAttention", 4, 2, kdim=3, vdim=5)(QUERY, f32(6, 3, 3), f32(6, 3, 5), tol=3e-4)
made("nn.MultiheadAttention", 4, 2, batch_first=True)(
    f32(3, 5, 4), f32(3, 6, 4, seed=1), f32(3, 6, 4, seed=2), tol=3e-4
)
made("nn.MultiheadAttention", 4, 2)(
    QUERY, KEY, VALUE, key_padding_mask=of([[0, 0, 0, 0, 1, 1]] * 3, "bool"), tol=3e-4
)
made("nn.MultiheadAttention", 4, 2)(
    QUERY, KEY, VALUE, attn_mask=of([[0, 0, 1, 0, 1, 1]] * 5, "bool"), tol=3e-4
)
made("nn.MultiheadAttention", 4, 2)(QUERY, KEY, VALUE, attn_mask=f32(5, 6), tol=3e-4)
made("nn.MultiheadAttention", 4, 2)(QUERY, KEY, VALUE, attn_mask=f32(6, 5, 6), tol=3e-4)
made("nn.MultiheadAttention", 4, 2)(f32(5, 4), f32(6, 4), f32(6, 4), tol=3e-4)
made("nn.MultiheadAttention", 4, 3)(QUERY, KEY, VALUE)
made("nn.MultiheadAttention", 4, 2)(f32(5, 3, 3), KEY, VALUE)
made("nn.MultiheadAttention", 4, 2)(QUERY, KEY, f32(5, 3, 4))
made("nn.MultiheadAttention", 4, 2)(QUERY, KEY, VALUE, attn_mask=f32(5, 5))
made("nn.MultiheadAttention", 4, 2, dropout=1.5)(QUERY, KEY, VALUE)

# ---- transformers -----------------------------------------------------------------------------
SOURCE, TARGET = f32(6, 3, 4), f32(5, 3, 4, seed=1)
CAUSAL = of([[i < j for j in range(6)] for i in range(6)], "bool")
made("nn.TransformerEncoderLayer", 4, 2, 8, 0.0)(SOURCE, tol=1e-4)
made("nn.TransformerEncoderLayer", 4, 2, 8, 0.0, "gelu", norm_first=True)(SOURCE, tol=1e-4)
made("nn.TransformerEncoderLayer", 4, 2, 8, 0.0, layer_norm_eps=0.1)(SOURCE, CAUSAL, tol=1e-4)
made("nn.TransformerEncoderLayer", 4, 2, 8, 0.0, batch_first=True)(
    f32(3, 6, 4), src_key_padding_mask=of([[0, 0, 0, 0, 0, 1]] * 3, "bool"), tol=1e-4
)
made("nn.TransformerEncoderLayer", 4, 3, 8)(SOURCE)
made("nn.TransformerEncoderLayer", 4, 2, 8, activation="step")(SOURCE)
made("nn.TransformerEncoderLayer", 4, 2, 8)(f32(6, 3, 5))
made("nn.TransformerDecoderLayer", 4, 2, 8, 0.0)(TARGET, SOURCE, tol=1e-4)
made("nn.TransformerDecoderLayer", 4, 2, 8, 0.0, at("ops.relu"), norm_first=True)(
    TARGET, SOURCE, tol=1e-4
)
made("nn.TransformerDecoderLayer", 4, 2, 8, 0.0)(
    TARGET,
    SOURCE,
    tgt_mask=of([[i < j for j in range(5)] for i in range(5)], "bool"),
    memory_mask=f32(5, 6),
    tol=1e-4,
)
made("nn.TransformerDecoderLayer", 4, 2, 0)(TARGET, SOURCE)
made("nn.TransformerDecoderLayer", 4, 2, 8)(TARGET, f32(6, 2, 4))
made("nn.Transformer", 4, 2, 1, 2, 8, 0.0)(SOURCE, TARGET, tol=1e-4)
made("nn.Transformer", 4, 2, 1, 1, 8, 0.0, norm_first=True, batch_first=True)(
    f32(3, 6, 4), f32(3, 5, 4), tol=1e-4
)
made("nn.Transformer", 4, 2, 1, 1, 8, 0.0)(SOURCE, TARGET, src_mask=CAUSAL, tol=1e-4)
made("nn.Transformer", 4, 3, 1, 1, 8)(SOURCE, TARGET)
made("nn.Transformer", 4, 2, 1, 1, 8)(SOURCE, f32(5, 2, 4))
made("nn.Transformer", 4, 2, 1, 1, 8)(f32(6, 3, 5), TARGET)


def stacked(name, layer, count, *inputs, norm=False):
    """Layers behind each other."""

    @case(f"nn.{name}", tol=1e-4)
    def program(ms):
        one = getattr(ms.nn, layer)(4, 2, 8, 0.0)
        stack = getattr(ms.nn, name)(one, count, ms.nn.LayerNorm((4,)) if norm else None)
        for parameter in stack.get_parameters():
            parameter.set_data(ms.Tensor(value_of(parameter.name, parameter.shape)))
        names = sorted(p.name for p in stack.get_parameters())
        return [names, stack(*[ms.Tensor(x.value) for x in inputs])]


stacked("TransformerEncoder", "TransformerEncoderLayer", 2, SOURCE)
stacked("TransformerEncoder", "TransformerEncoderLayer", 2, SOURCE, CAUSAL, norm=True)
stacked("TransformerEncoder", "TransformerEncoderLayer", -1, SOURCE)
stacked("TransformerDecoder", "TransformerDecoderLayer", 2, TARGET, SOURCE)
stacked("TransformerDecoder", "TransformerDecoderLayer", 1, TARGET, SOURCE, norm=True)


def learned(name, *args, inputs):
    """The gradients of all parameters of a recurrent layer."""

    @case(f"nn.{name}", tol=2e-3)
    def program(ms):
        layer = getattr(ms.nn, name)(*args)
        for parameter in layer.get_parameters():
            parameter.set_data(ms.Tensor(value_of(parameter.name, parameter.shape)))
        weights = ms.ParameterTuple(layer.trainable_params())

        def total(x, states):
            result, _ = layer(x, states)
            return (result * result).sum()

        tensors = [
            tuple(ms.Tensor(p.value) for p in x) if isinstance(x, tuple) else ms.Tensor(x.value)
            for x in inputs
        ]
        return [ms.grad(total, 0, weights)(*tensors), [p.name for p in weights]]


learned("LSTM", 4, 2, 2, inputs=(STEPS, (BOTH, f32(2, 3, 2, seed=1))))
learned("GRU", 4, 2, 1, True, False, 0.0, True, inputs=(STEPS, BOTH))
learned("RNN", 4, 2, inputs=(STEPS, STATES))
made("nn.LSTM", 4, 2)(b1(5, 3, 4), (STATES, STATES))
made("nn.GRU", 4, 2)(i32(5, 3, 4), STATES)
