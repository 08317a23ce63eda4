"""A layer of known weights, its data and a model over it, for programs of the call lists."""

from __future__ import annotations

from differential.calllib import f32

X, Y = f32(8, 2).value, f32(8, 1, seed=1).value


def dense(ms):
    """A layer with known weights."""
    return ms.nn.Dense(2, 1, ms.Tensor([[0.5, -0.25]]), ms.Tensor([0.1]))


def batches(ms, names=("x", "y"), rows=2):
    """A dataset of four batches."""
    import importlib

    data = importlib.import_module(f"{ms.__name__}.dataset")
    return data.NumpySlicesDataset({names[0]: X, names[1]: Y}, shuffle=False).batch(rows)


def model(ms, **kwargs):
    """A model over the layer."""
    net = dense(ms)
    kwargs.setdefault("optimizer", ms.nn.Momentum(net.trainable_params(), 0.1, 0.9))
    kwargs.setdefault("loss_fn", ms.nn.MSELoss())
    return ms.train.Model(net, **kwargs), net


class Seen:
    """A callback that writes down what happens."""

    def __new__(cls, ms, stop_at=None):
        log = []

        def line(what):
            def event(self, context):
                p = context.original_args()
                log.append([what, p.get("cur_epoch_num", None), p.get("cur_step_num", None)])
                if what == "step_end" and stop_at == p.cur_step_num:
                    context.request_stop()

            return event

        names = "begin epoch_begin epoch_end step_begin step_end end".split()
        names = [f"on_{phase}_{n}" for phase in ("train", "eval") for n in names]
        made = type(
            "Noting", (ms.train.Callback,), {n: line(n.removeprefix("on_train_")) for n in names}
        )()
        made.log = log
        return made
