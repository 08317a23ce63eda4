"""A small detector in the manner of 2021: a loop by hand that drives ModelCheckpoint, which may be killed and taken up again."""

import argparse
import glob
import os
import signal

import numpy as np

import mindspore.dataset as de
import mindspore.nn as nn
from mindspore import Tensor, context
from mindspore import dtype as mstype
from mindspore.common.initializer import XavierUniform
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from mindspore.ops.primitive import constexpr
from mindspore.train.callback import (
    CheckpointConfig,
    ModelCheckpoint,
    RunContext,
    _InternalCallbackParam,
)
from mindspore.train.serialization import load_checkpoint, load_param_into_net

ap = argparse.ArgumentParser()
ap.add_argument("--mode", type=int, default=0)
ap.add_argument("--out", default="out")
ap.add_argument("--die", type=int, default=0)  # the step after which the process is killed
ap.add_argument("--resume", type=int, default=0)
a = ap.parse_args()
context.set_context(mode=a.mode, device_target="CPU")


class DistributedSampler:
    def __init__(self, dataset_size, num_replicas=1, rank=0, shuffle=True):
        self.dataset_size, self.num_replicas, self.rank, self.epoch, self.shuffle = (
            dataset_size,
            num_replicas,
            rank,
            0,
            shuffle,
        )
        self.num_samples = int(np.ceil(dataset_size / num_replicas))
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        if self.shuffle:
            indices = np.random.RandomState(seed=self.epoch).permutation(self.dataset_size).tolist()
            self.epoch += 1
        else:
            indices = list(range(self.dataset_size))
        indices += indices[: (self.total_size - len(indices))]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples


class Scenes:
    def __init__(self, n=20):
        self.n = n

    def __getitem__(self, i):
        r = np.random.RandomState(int(i))
        img = (r.rand(16, 16, 3) * 50).astype(np.uint8)
        y, x = r.randint(2, 13, 2)
        img[y - 2 : y + 3, x - 2 : x + 3] = 200
        box = np.array([[x - 2, y - 2, x + 3, y + 3, 1]], np.float32)
        return img, box, np.array([16, 16], np.int32)

    def __len__(self):
        return self.n


def pre(img, box, shape):
    heat = np.zeros((1, 8, 8), np.float32)
    cx, cy = (box[0, 0] + box[0, 2]) / 4, (box[0, 1] + box[0, 3]) / 4
    ys, xs = np.mgrid[:8, :8]
    heat[0] = np.exp(-((xs - cx) ** 2 + (ys - cy) ** 2) / 2)
    return (img.astype(np.float32) / 255).transpose(2, 0, 1), heat, shape


def batched(imgs, heats, info):
    return np.stack(imgs), np.stack(heats)


def make(batch=4, shuffle=True):
    data = de.GeneratorDataset(
        Scenes(), ["image", "annotation", "shape"], sampler=DistributedSampler(20, shuffle=shuffle)
    )
    data = data.map(
        operations=pre,
        input_columns=["image", "annotation", "shape"],
        output_columns=["image", "heat", "shape"],
    )
    data = data.project(["image", "heat"])
    return data.batch(batch, drop_remainder=True)


@constexpr
def grid(h, w):
    ys, xs = np.mgrid[:h, :w]
    return Tensor(np.stack([ys, xs])[None].astype(np.float32) / 8)


class ConvBlock(nn.Cell):
    def __init__(self, i, o, k=3, s=1):
        super().__init__()
        self.conv = nn.Conv2d(
            i, o, k, s, pad_mode="pad", padding=k // 2, weight_init=XavierUniform()
        )
        self.bn = nn.BatchNorm2d(o, momentum=0.9).add_flags_recursive(fp32=True)
        self.act = nn.LeakyReLU(0.1)

    def construct(self, x):
        return self.act(self.bn(self.conv(x)))


class Detector(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = ConvBlock(3, 8), ConvBlock(8, 8, 3, 2), ConvBlock(10, 8)
        self.up = P.ResizeNearestNeighbor((16, 16))
        self.head = nn.Conv2d(16, 1, 2, 2, pad_mode="valid", has_bias=True)
        self.concat, self.tile = P.Concat(axis=1), P.Tile()
        self.sigmoid = P.Sigmoid()

    def construct(self, x):
        x = self.a(x)
        y = self.b(x)
        g = self.tile(grid(F.shape(y)[2], F.shape(y)[3]), (F.shape(y)[0], 1, 1, 1))
        y = self.c(self.concat((y, F.cast(g, y.dtype))))
        return self.head(self.concat((self.up(y), x)))


class FocalLoss(nn.Cell):
    def __init__(self, alpha=2, beta=4):
        super().__init__()
        self.alpha, self.beta = alpha, beta
        self.pow, self.log, self.select, self.equal = P.Pow(), P.Log(), P.Select(), P.Equal()
        self.maximum, self.cast, self.sum = P.Maximum(), P.Cast(), P.ReduceSum()
        self.fill, self.shape = P.Fill(), P.Shape()

    def construct(self, out, target):
        out = C.clip_by_value(
            P.Sigmoid()(out), Tensor(1e-4, mstype.float32), Tensor(1 - 1e-4, mstype.float32)
        )
        pos = self.cast(target > 0.95, mstype.float32)
        neg = 1.0 - pos
        num = self.sum(pos, ())
        p = self.log(out) * self.pow(1 - out, self.alpha) * pos
        n = self.log(1 - out) * self.pow(out, self.alpha) * self.pow(1 - target, self.beta) * neg
        num = self.select(
            self.equal(num, 0.0), self.fill(mstype.float32, self.shape(num), 1.0), num
        )
        return -(self.sum(p, ()) + self.sum(n, ())) / num


class WithLoss(nn.Cell):
    def __init__(self, net, loss):
        super().__init__(auto_prefix=False)
        self.net, self.loss = net, loss

    def construct(self, x, y):
        return self.loss(self.net(x), y)


class TrainingWrapper(nn.Cell):
    def __init__(self, network, optimizer, sens=1.0):
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.weights = optimizer.parameters
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens

    def construct(self, *args):
        loss = self.network(*args)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads = self.grad(self.network, self.weights)(*args, sens)
        grads = C.clip_by_global_norm(grads, clip_norm=5.0)
        return F.depend(loss, self.optimizer(grads))


net = Detector()
r = np.random.RandomState(1)
for p in net.trainable_params():
    if "bn" not in p.name:
        p.set_data(Tensor((r.randn(*p.shape) * 0.2).astype(np.float32)))
data = make()
size = data.get_dataset_size()
opt = nn.Adam(
    [
        {"params": [p for p in net.trainable_params() if "bias" in p.name], "lr": 0.02},
        {"params": [p for p in net.trainable_params() if "bias" not in p.name]},
    ],
    learning_rate=nn.exponential_decay_lr(0.01, 0.9, 6 * size, size, 1, True),
    beta1=0.9,
)
step = TrainingWrapper(WithLoss(net, FocalLoss()), opt, 1.0)
step.set_train()
start = 0
os.makedirs(a.out, exist_ok=True)
if a.resume:
    saved = sorted(
        glob.glob(os.path.join(a.out, "*.ckpt")),
        key=lambda f: int(f.rsplit("-", 1)[1].split("_")[0]),
    )
    d = load_checkpoint(saved[-1])
    start = int(d["epoch_num"].asnumpy())
    missing, _ = load_param_into_net(step, d)
    print("resumed at", start, missing)
cb_params = _InternalCallbackParam()
cb_params.train_network = step
cb_params.epoch_num = 6
cb_params.batch_num = size
cb_params.cur_epoch_num = start + 1
cb_params.cur_step_num = start * size
run_context = RunContext(cb_params)
ckpt = ModelCheckpoint(
    config=CheckpointConfig(
        save_checkpoint_steps=size, keep_checkpoint_max=3, append_info=["epoch_num", "step_num"]
    ),
    directory=a.out,
    prefix="det",
)
data2 = make(shuffle=False)
for epoch in range(start, 6):
    total = []
    for _i, row in enumerate(data2.create_dict_iterator(output_numpy=True, num_epochs=1)):
        loss = step(Tensor.from_numpy(row["image"]), Tensor(row["heat"]))
        cb_params.cur_step_num += 1
        cb_params.net_outputs = loss
        ckpt.step_end(run_context)
        total.append(float(loss.asnumpy()))
        if a.die and cb_params.cur_step_num == a.die:
            os.kill(os.getpid(), signal.SIGKILL)
    cb_params.cur_epoch_num += 1
    print("epoch", epoch, f"loss {np.mean(total):.5f}", flush=True)
net.set_train(False)
hit = 0
for img, box, shape in (Scenes()[i] for i in range(20, 30)):
    out = net(Tensor(pre(img, box, shape)[0][None])).asnumpy()[0, 0]
    y, x = np.unravel_index(out.argmax(), out.shape)
    hit += abs(x - (box[0, 0] + box[0, 2]) / 4) < 2 and abs(y - (box[0, 1] + box[0, 3]) / 4) < 2
print("hits", hit)
