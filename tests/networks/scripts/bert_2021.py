"""A small BERT in the manner of 2021: a step of TrainOneStepWithLossScaleCell with clipping, a learning rate of its own, sinks."""

import argparse
import math

import numpy as np

import mindspore.common.dtype as mstype
import mindspore.dataset as de
import mindspore.dataset.transforms.c_transforms as C2
import mindspore.nn as nn
from mindspore import context
from mindspore.common import set_seed
from mindspore.common.initializer import Normal, TruncatedNormal, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.learning_rate_schedule import LearningRateSchedule, PolynomialDecayLR, WarmUpLR
from mindspore.nn.optim import AdamWeightDecay
from mindspore.nn.wrap.loss_scale import DynamicLossScaleUpdateCell
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from mindspore.train.callback import Callback, CheckpointConfig, ModelCheckpoint, TimeMonitor
from mindspore.train.model import Model

parser = argparse.ArgumentParser()
parser.add_argument("--mode", type=int, default=0)
parser.add_argument("--sink", type=int, default=0)
parser.add_argument("--sink_size", type=int, default=2)
parser.add_argument("--out", default="out2")
a = parser.parse_args()
GRADIENT_CLIP_TYPE = 1
GRADIENT_CLIP_VALUE = 1.0
clip_grad = C.MultitypeFuncGraph("clip_grad")


@clip_grad.register("Number", "Number", "Tensor")
def _clip_grad(clip_type, clip_value, grad):
    if clip_type not in (0, 1):
        return grad
    dt = F.dtype(grad)
    if clip_type == 0:
        new_grad = C.clip_by_value(
            grad,
            F.cast(F.tuple_to_array((-clip_value,)), dt),
            F.cast(F.tuple_to_array((clip_value,)), dt),
        )
    else:
        new_grad = nn.ClipByNorm()(grad, F.cast(F.tuple_to_array((clip_value,)), dt))
    return new_grad


grad_scale = C.MultitypeFuncGraph("grad_scale")
reciprocal = P.Reciprocal()


@grad_scale.register("Tensor", "Tensor")
def tensor_grad_scale(scale, grad):
    return grad * reciprocal(scale)


class SelfAttention(nn.Cell):
    def __init__(self, width, heads, compute_type):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q = nn.Dense(width, width, weight_init=TruncatedNormal(0.02)).to_float(compute_type)
        self.k = nn.Dense(width, width, weight_init=TruncatedNormal(0.02)).to_float(compute_type)
        self.v = nn.Dense(width, width, weight_init=TruncatedNormal(0.02)).to_float(compute_type)
        self.out = nn.Dense(width, width).to_float(compute_type)
        self.reshape, self.transpose = P.Reshape(), P.Transpose()
        self.trans_shape = (0, 2, 1, 3)
        self.matmul_trans_b = P.BatchMatMul(transpose_b=True)
        self.matmul = P.BatchMatMul()
        self.softmax = nn.Softmax()
        self.scores_mul = 1.0 / math.sqrt(float(self.size))
        self.multiply_data = -10000.0
        self.sub, self.cast, self.get_dtype, self.expand_dims = (
            P.Sub(),
            P.Cast(),
            P.DType(),
            P.ExpandDims(),
        )
        self.layernorm = nn.LayerNorm((width,))

    def construct(self, x, mask):
        _b, t, w = F.shape(x)
        shape = (-1, t, self.heads, self.size)
        q = self.transpose(self.reshape(self.q(x), shape), self.trans_shape)
        k = self.transpose(self.reshape(self.k(x), shape), self.trans_shape)
        v = self.transpose(self.reshape(self.v(x), shape), self.trans_shape)
        s = self.matmul_trans_b(q, k) * self.scores_mul
        m = self.expand_dims(mask, 1)
        m = self.sub(
            self.cast(F.tuple_to_array((1.0,)), self.get_dtype(s)), self.cast(m, self.get_dtype(s))
        )
        s = m * self.multiply_data + s
        c = self.matmul(self.softmax(s), v)
        c = self.reshape(self.transpose(c, self.trans_shape), (-1, t, w))
        return self.layernorm(self.cast(self.out(c), mstype.float32) + x)


class Bert(nn.Cell):
    def __init__(self, vocab=20, width=16, heads=4, layers=2, seq=8, compute_type=mstype.float32):
        super().__init__()
        self.embedding_table = Parameter(
            initializer(TruncatedNormal(0.02), [vocab, width]), name="embedding_table"
        )
        self.position = nn.Embedding(seq, width, embedding_table=Normal(0.02))
        self.gather, self.shape = P.Gather(), P.Shape()
        self.layers = nn.CellList(
            [SelfAttention(width, heads, compute_type) for _ in range(layers)]
        )
        self.pooler = nn.Dense(width, width, activation="tanh")
        self.squeeze_1 = P.Squeeze(1)
        self.slice = P.StridedSlice()

    def construct(self, ids, mask):
        x = self.gather(self.embedding_table, ids, 0)
        x = x + self.position(F.tuple_to_array(tuple(range(8))))
        m = P.Reshape()(mask, (F.shape(mask)[0], 1, F.shape(mask)[1]))
        for layer in self.layers:
            x = layer(x, m)
        first = self.squeeze_1(self.slice(x, (0, 0, 0), (F.shape(x)[0], 1, 16), (1, 1, 1)))
        return x, self.pooler(first), self.embedding_table


class BertWithLoss(nn.Cell):
    def __init__(self, compute_type):
        super().__init__()
        self.bert = Bert(compute_type=compute_type)
        self.matmul = P.MatMul(transpose_b=True)
        self.log_softmax = nn.LogSoftmax(axis=-1)
        self.output_bias = Parameter(initializer("zero", 20), name="output_bias")
        self.nsp = nn.Dense(16, 2)
        self.onehot = P.OneHot()
        self.on_value, self.off_value = Tensor(1.0, mstype.float32), Tensor(0.0, mstype.float32)
        self.reduce_sum, self.reduce_mean, self.neg = P.ReduceSum(), P.ReduceMean(), P.Neg()
        self.last_idx = (-1,)

    def construct(
        self, input_ids, input_mask, next_sentence_labels, masked_lm_ids, masked_lm_weights
    ):
        x, pooled, table = self.bert(input_ids, input_mask)
        logits = self.matmul(P.Reshape()(x, (-1, 16)), table) + self.output_bias
        lp = self.log_softmax(logits)
        label_ids = P.Reshape()(masked_lm_ids, self.last_idx)
        w = P.Cast()(P.Reshape()(masked_lm_weights, self.last_idx), mstype.float32)
        one = self.onehot(label_ids, 20, self.on_value, self.off_value)
        per = self.neg(self.reduce_sum(lp * one, self.last_idx))
        num = self.reduce_sum(w * per, ())
        den = self.reduce_sum(w, ()) + F.cast(F.tuple_to_array((1e-5,)), mstype.float32)
        mlm = num / den
        lp2 = self.log_softmax(self.nsp(pooled))
        one2 = self.onehot(
            P.Reshape()(next_sentence_labels, self.last_idx), 2, self.on_value, self.off_value
        )
        nsp = self.reduce_mean(self.neg(self.reduce_sum(one2 * lp2, self.last_idx)), self.last_idx)
        return mlm + nsp


class BertTrainOneStepWithLossScaleCell(nn.TrainOneStepWithLossScaleCell):
    def __init__(self, network, optimizer, scale_update_cell=None):
        super().__init__(network, optimizer, scale_update_cell)
        self.cast = P.Cast()
        self.degree = 1
        self.loss_scale = None
        self.loss_scaling_manager = scale_update_cell
        if scale_update_cell:
            self.loss_scale = Parameter(
                Tensor(scale_update_cell.get_loss_scale(), dtype=mstype.float32)
            )

    def construct(
        self,
        input_ids,
        input_mask,
        next_sentence_labels,
        masked_lm_ids,
        masked_lm_weights,
        sens=None,
    ):
        weights = self.weights
        loss = self.network(
            input_ids, input_mask, next_sentence_labels, masked_lm_ids, masked_lm_weights
        )
        if sens is None:
            scaling_sens = self.loss_scale
        else:
            scaling_sens = sens
        status, scaling_sens = self.start_overflow_check(loss, scaling_sens)
        grads = self.grad(self.network, weights)(
            input_ids,
            input_mask,
            next_sentence_labels,
            masked_lm_ids,
            masked_lm_weights,
            self.cast(scaling_sens, mstype.float32),
        )
        grads = self.grad_reducer(grads)
        degree_sens = self.cast(scaling_sens * self.degree, mstype.float32)
        grads = self.hyper_map(F.partial(grad_scale, degree_sens), grads)
        grads = self.hyper_map(F.partial(clip_grad, GRADIENT_CLIP_TYPE, GRADIENT_CLIP_VALUE), grads)
        cond = self.get_overflow_status(status, grads)
        overflow = cond
        if sens is None:
            overflow = self.loss_scaling_manager(self.loss_scale, cond)
        if not overflow:
            self.optimizer(grads)
        return (loss, cond, scaling_sens)


class BertLearningRate(LearningRateSchedule):
    def __init__(self, learning_rate, end_learning_rate, warmup_steps, decay_steps, power):
        super().__init__()
        self.warmup_flag = False
        if warmup_steps > 0:
            self.warmup_flag = True
            self.warmup_lr = WarmUpLR(learning_rate, warmup_steps)
        self.decay_lr = PolynomialDecayLR(learning_rate, end_learning_rate, decay_steps, power)
        self.warmup_steps = Tensor(np.array([warmup_steps]).astype(np.float32))
        self.greater, self.one, self.cast = (
            P.Greater(),
            Tensor(np.array([1.0]).astype(np.float32)),
            P.Cast(),
        )

    def construct(self, global_step):
        decay_lr = self.decay_lr(global_step)
        if self.warmup_flag:
            is_warmup = self.cast(self.greater(self.warmup_steps, global_step), mstype.float32)
            warmup_lr = self.warmup_lr(global_step)
            lr = (self.one - is_warmup) * decay_lr + is_warmup * warmup_lr
        else:
            lr = decay_lr
        return lr


class LossCallBack(Callback):
    def __init__(self, dataset_size=-1):
        super().__init__()
        self._dataset_size = dataset_size

    def step_end(self, run_context):
        cb_params = run_context.original_args()
        percent, epoch_num = math.modf(cb_params.cur_step_num / self._dataset_size)
        if percent == 0:
            percent, epoch_num = 1, epoch_num - 1
        out = cb_params.net_outputs
        print(
            "epoch: {}, current epoch percent: {}, step: {}, outputs are {}".format(
                int(epoch_num),
                f"{percent:.3f}",
                cb_params.cur_step_num,
                [round(float(o.asnumpy().mean()), 4) for o in out],
            ),
            flush=True,
        )


def gen():
    r = np.random.RandomState(0)
    for i in range(24):
        ids = r.randint(2, 20, 8).astype(np.int32)
        mask = np.array([1] * (8 - i % 3) + [0] * (i % 3), np.int32)
        yield ids, mask, np.array([i % 2], np.int32), np.roll(ids, 1), mask.astype(np.float32)


if __name__ == "__main__":
    set_seed(0)
    context.set_context(mode=a.mode, device_target="CPU", reserve_class_name_in_scope=False)
    context.set_context(max_call_depth=3000)
    data = de.GeneratorDataset(
        gen,
        ["input_ids", "input_mask", "next_sentence_labels", "masked_lm_ids", "masked_lm_weights"],
        shuffle=False,
    )
    data = data.map(operations=C2.TypeCast(mstype.int32), input_columns="input_ids")
    data = data.batch(4, drop_remainder=True)
    print(
        "size", data.get_dataset_size(), data.output_shapes(), [str(t) for t in data.output_types()]
    )
    net = BertWithLoss(mstype.float32)
    r = np.random.RandomState(3)
    for p in net.get_parameters():
        p.set_data(Tensor((r.randn(*p.shape) * 0.2).astype(np.float32) + ("gamma" in p.name)))
    steps = data.get_dataset_size()
    new_repeat_count = 2 * steps // a.sink_size if a.sink else 2
    lr = BertLearningRate(1e-2, 1e-4, 3, 2 * steps, 1.0)
    params = net.trainable_params()
    decay_filter = lambda x: "layernorm" not in x.name.lower() and "bias" not in x.name.lower()
    decay_params = list(filter(decay_filter, params))
    other_params = list(filter(lambda x: not decay_filter(x), params))
    group_params = [
        {"params": decay_params, "weight_decay": 0.01},
        {"params": other_params, "weight_decay": 0.0},
        {"order_params": params},
    ]
    optimizer = AdamWeightDecay(group_params, learning_rate=lr, eps=1e-6)
    callback = [TimeMonitor(a.sink_size), LossCallBack(steps)]
    callback.append(
        ModelCheckpoint(
            prefix="checkpoint_bert",
            directory=a.out,
            config=CheckpointConfig(save_checkpoint_steps=4, keep_checkpoint_max=2),
        )
    )
    update_cell = DynamicLossScaleUpdateCell(loss_scale_value=65536, scale_factor=2, scale_window=5)
    net_with_grads = BertTrainOneStepWithLossScaleCell(
        net, optimizer=optimizer, scale_update_cell=update_cell
    )
    model = Model(net_with_grads)
    model.train(
        new_repeat_count,
        data,
        callbacks=callback,
        dataset_sink_mode=bool(a.sink),
        sink_size=a.sink_size if a.sink else -1,
    )
    print(
        "scale",
        float(net_with_grads.loss_scale.asnumpy()),
        "global",
        optimizer.global_step.asnumpy(),
    )
