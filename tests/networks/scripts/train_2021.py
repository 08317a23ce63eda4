"""A training in the manner of 2021: context, P, C and F, a yaml file behind argparse, a step with loss scale and clipping of its own."""

import argparse
import ast
import os
import time

import numpy as np

from mindspore import Model, ParameterTuple, Tensor, context, nn
from mindspore import dataset as ds
from mindspore.common import dtype as mstype
from mindspore.common import set_seed
from mindspore.common.parameter import Parameter
from mindspore.communication.management import get_group_size, get_rank, init
from mindspore.context import ParallelMode
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from mindspore.train.callback import Callback, CheckpointConfig, ModelCheckpoint
from mindspore.train.serialization import load_checkpoint, load_param_into_net


def parse_config():
    """The settings of the yaml file, each of which an option may change."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config_path", default="config_2021.yaml")
    parser.add_argument("--mode", type=int, default=context.GRAPH_MODE)
    path = parser.parse_known_args()[0].config_path
    with open(path, encoding="utf-8") as file:  # the values are literals of Python too
        pairs = [line.split(": ", 1) for line in file if ": " in line and line[0] != "#"]
    settings = {name: ast.literal_eval(value.strip()) for name, value in pairs}
    for name, value in settings.items():
        kind = ast.literal_eval if isinstance(value, bool) else type(value)
        parser.add_argument(f"--{name}", type=kind, default=value)
    return parser.parse_args()


class Blobs:
    """Points around four centres."""

    def __init__(self, count):
        random = np.random.RandomState(3)
        self.label = random.randint(0, 4, count).astype(np.int32)
        centres = np.array([[2, 2], [2, -2], [-2, 2], [-2, -2]], np.float32)
        self.point = (centres[self.label] + random.randn(count, 2) * 0.5).astype(np.float32)

    def __getitem__(self, index):
        return self.point[index], self.label[index]

    def __len__(self):
        return len(self.label)


class EveryRank:
    """A sampler: the rows of one process, in another order each time."""

    def __init__(self, size, rank_id, rank_size):
        self.size, self.rank_id, self.rank_size = size, rank_id, rank_size
        self.random = np.random.RandomState(1)

    def __iter__(self):
        order = self.random.permutation(self.size)
        return iter(order[self.rank_id :: self.rank_size].tolist())

    def __len__(self):
        return self.size // self.rank_size


def create_dataset(config, rank_id, rank_size):
    """Batches of points and labels."""
    source = Blobs(config.num_samples)
    data = ds.GeneratorDataset(
        source,
        column_names=["point", "label"],
        sampler=EveryRank(len(source), rank_id, rank_size),
        num_parallel_workers=1,
    )
    data = data.map(operations=[lambda x: (x / 2).astype(np.float32)], input_columns="point")
    return data.batch(config.batch_size, drop_remainder=True)


class Net(nn.Cell):
    """Two dense layers."""

    def __init__(self):
        super(Net, self).__init__()  # noqa: UP008
        self.fc1 = nn.Dense(2, 16, activation="relu")
        self.fc2 = nn.Dense(16, 4)

    def construct(self, x):
        return self.fc2(self.fc1(x))


class NetWithLoss(nn.Cell):
    """The loss of a batch."""

    def __init__(self, backbone):
        super(NetWithLoss, self).__init__(auto_prefix=False)  # noqa: UP008
        self.backbone = backbone
        self.softmax = P.LogSoftmax()
        self.one_hot, self.mean = P.OneHot(), P.ReduceMean()
        self.on, self.off = Tensor(1.0, mstype.float32), Tensor(0.0, mstype.float32)

    def construct(self, x, label):
        logits = self.backbone(x)
        chosen = self.one_hot(label, F.shape(logits)[1], self.on, self.off)
        return -self.mean(P.ReduceSum()(self.softmax(logits) * chosen, -1))


unscale = C.MultitypeFuncGraph("unscale")


@unscale.register("Tensor", "Tensor")
def _unscale_tensor(scale, grad):
    return grad * F.cast(P.Reciprocal()(scale), F.dtype(grad))


clip = C.MultitypeFuncGraph("clip")


@clip.register("Number", "Tensor")
def _clip_tensor(norm, grad):
    return nn.ClipByNorm()(grad, F.cast(F.tuple_to_array((norm,)), F.dtype(grad)))


class TrainStep(nn.Cell):
    """A step that scales the loss, clips the gradients, and leaves out what overflows."""

    def __init__(self, network, optimizer, manager, clip_norm):
        super(TrainStep, self).__init__(auto_prefix=False)  # noqa: UP008
        self.network, self.optimizer, self.manager = network, optimizer, manager
        self.network.set_grad()
        self.network.add_flags(defer_inline=True)
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.clip_norm = clip_norm
        mode = context.get_auto_parallel_context("parallel_mode")
        self.reducer_flag = mode in [ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL]
        self.grad_reducer = F.identity
        if self.reducer_flag:
            mean = context.get_auto_parallel_context("gradients_mean")
            self.grad_reducer = DistributedGradReducer(self.weights, mean, get_group_size())
        self.alloc_status = P.NPUAllocFloatStatus()
        self.get_status, self.clear_status = P.NPUGetFloatStatus(), P.NPUClearFloatStatus()
        self.reduce_sum = P.ReduceSum(keep_dims=False)
        self.less_equal, self.base = P.LessEqual(), Tensor(1, mstype.float32)
        self.hyper_map, self.cast = C.HyperMap(), P.Cast()
        self.loss_scale = Parameter(
            Tensor(manager.get_loss_scale(), dtype=mstype.float32), name="loss_scale"
        )

    def construct(self, x, label, sens=None):
        weights = self.weights
        loss = self.network(x, label)
        scaling_sens = self.loss_scale if sens is None else sens
        status = F.depend(self.alloc_status(), loss)
        clear = self.clear_status(status)
        scaling_sens = F.depend(scaling_sens, clear)
        grads = self.grad(self.network, weights)(x, label, self.cast(scaling_sens, mstype.float32))
        grads = self.grad_reducer(grads)
        grads = self.hyper_map(F.partial(unscale, scaling_sens), grads)
        grads = self.hyper_map(F.partial(clip, self.clip_norm), grads)
        status = F.depend(status, grads)
        status = F.depend(status, self.get_status(status))
        cond = self.less_equal(self.base, self.reduce_sum(status, (0,)))
        overflow = cond
        if sens is None:
            overflow = self.manager(self.loss_scale, cond)
        succ = False if overflow else self.optimizer(grads)
        return F.depend((loss, cond, scaling_sens), succ)


class Progress(Callback):
    """Tells what the run is doing."""

    def __init__(self, log_every):
        super(Progress, self).__init__()  # noqa: UP008
        self.log_every, self.start, self.losses = log_every, 0.0, []

    def epoch_begin(self, run_context):
        self.start = time.time()
        self.losses = []

    def step_end(self, run_context):
        cb_params = run_context.original_args()
        loss, overflow, scale = cb_params.net_outputs
        self.losses.append(float(loss.asnumpy()))
        at = (cb_params.cur_step_num - 1) % cb_params.batch_num + 1
        if at % self.log_every == 0:
            print(
                f"epoch: {cb_params.cur_epoch_num}/{cb_params.epoch_num} step: {at}/{cb_params.batch_num} "
                f"loss: {loss.asnumpy()} overflow: {overflow.asnumpy()} scale: {scale.asnumpy()}"
            )

    def epoch_end(self, run_context):
        cb_params = run_context.original_args()
        took = (time.time() - self.start) * 1000
        print(f"epoch {cb_params.cur_epoch_num}: {took / cb_params.batch_num:.2f} ms a step")
        print(f"mean loss: {np.mean(self.losses):.6f}")


def main():
    """Train, save, load, evaluate."""
    config = parse_config()
    set_seed(1)
    context.set_context(mode=config.mode, device_target=config.device_target, save_graphs=False)
    rank_id, rank_size = 0, 1
    output = config.train_url or "output"
    if config.run_modelarts:
        import moxing as mox

        mox.file.copy_parallel(src_url=config.data_url, dst_url="/cache/data")
        output = "/cache/train"
    if config.run_distribute:
        init()
        rank_id, rank_size = get_rank(), get_group_size()
        context.reset_auto_parallel_context()
        context.set_auto_parallel_context(
            device_num=rank_size, parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True
        )
    data = create_dataset(config, rank_id, rank_size)
    net = Net()
    optimizer = nn.Momentum(
        filter(lambda p: p.requires_grad, net.get_parameters()), config.lr, config.momentum
    )
    manager = nn.DynamicLossScaleUpdateCell(config.init_loss_scale, scale_factor=2, scale_window=20)
    step = TrainStep(NetWithLoss(net), optimizer, manager, config.clip_norm)
    step.set_train(True)
    callbacks = [Progress(log_every=5)]
    if rank_id == 0:
        policy = CheckpointConfig(
            save_checkpoint_steps=data.get_dataset_size(),
            keep_checkpoint_max=config.keep_checkpoint_max,
        )
        callbacks.append(ModelCheckpoint(prefix="blobs", directory=output, config=policy))
    Model(step).train(config.epoch_size, data, callbacks=callbacks, dataset_sink_mode=False)
    if config.run_modelarts:
        mox.file.copy_parallel(src_url=output, dst_url=config.train_url)

    newest = max(
        (os.path.join(output, f) for f in os.listdir(output) if f.endswith(".ckpt")),
        key=os.path.getmtime,
    )
    fresh = Net()
    load_param_into_net(fresh, load_checkpoint(newest))
    fresh.set_train(False)
    hits = count = 0
    for row in create_dataset(config, 0, 1).create_dict_iterator(num_epochs=1):
        found = P.Argmax(output_type=mstype.int32)(fresh(row["point"]))
        hits += int((found == row["label"]).sum().asnumpy())
        count += row["label"].shape[0]
    print(f"accuracy: {hits / count:.4f}")


if __name__ == "__main__":
    main()
