"""SummaryLandscape: the losses of a network around the weights that a training went through."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mindspore import _paths
from mindspore.common._checked import check_value
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.metrics import Loss
from mindspore.train.serialization import load_checkpoint, load_param_into_net
from mindspore.train.summary import SummaryRecord
from mindspore.train.summary._landscape_settings import Kept, Settings

_OP = "SummaryLandscape.gen_landscapes_with_multi_process"
_MARGIN = 0.2  # of what a path takes up, on each side of it

Weights = list[np.ndarray]


@dataclass(frozen=True)
class Plane:
    """Two directions from where the weights ended; `points` are those that the training went through, [2, numbers]."""

    origin: Weights
    directions: tuple[Weights, Weights]
    points: np.ndarray | None = None

    def at(self, x: float, y: float) -> Weights:
        """The weights of a point."""
        first, second = self.directions
        return [o + x * a + y * b for o, a, b in zip(self.origin, first, second)]

    def axes(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of a grid: around the points, or from -1 to 1."""
        if self.points is None:
            return np.linspace(-1, 1, size), np.linspace(-1, 1, size)
        low, high = self.points.min(1), self.points.max(1)
        spans = high - low
        spans = np.where(spans > 1e-6 * spans.max(), spans, spans.max()) * _MARGIN
        x, y = (np.linspace(a - s, b + s, size) for a, b, s in zip(low, high, spans))
        return x, y


def principal_plane(path: list[Weights]) -> Plane:
    """The plane that the steps of a path vary in most, through its last point; its directions have a length of 1."""
    last = path[-1]
    steps = [np.concatenate([(w - o).ravel() for w, o in zip(point, last)]) for point in path]
    products = np.array([[float(a @ b) for b in steps] for a in steps])
    if not np.isfinite(products).all():
        raise ValueError(
            f"For '{_OP}', the weights must be finite in each of 'intervals', but the training diverged."
        )
    found, shares = np.linalg.eigh(products)
    if not found[-1] > 0:
        raise ValueError(
            f"For '{_OP}', the weights must change within each of 'intervals', but they are equal."
        )
    if steps[0].size < 2:
        raise ValueError(
            f"For '{_OP}', the network must have at least two trainable weights for a plane, but it has one."
        )
    flat = [sum(s * d for s, d in zip(shares[:, -k], steps)) for k in (1, 2)]
    if found[-2] <= 1e-10 * found[-1]:  # a straight line lies in any plane
        flat[1] = np.random.default_rng(0).standard_normal(flat[0].size).astype(flat[0].dtype)
    unit: list[np.ndarray] = []
    for direction in flat:
        for other in unit:
            direction = direction - (direction @ other) * other
        unit.append(direction / np.linalg.norm(direction))
    points = np.array([[float(step @ direction) for step in steps] for direction in unit])
    for k in (0, 1):  # which way a direction points is chance: from the end to the beginning
        if points[k, 0] < 0:
            points[k], unit[k] = -points[k], -unit[k]
    ends = np.cumsum([o.size for o in last])[:-1]
    first, second = (
        [part.reshape(o.shape) for part, o in zip(np.split(d, ends), last)] for d in unit
    )
    return Plane(last, (first, second), points)


def random_plane(origin: Weights) -> Plane:
    """Two directions by chance, each filter as long as the filter of the weights: networks are then comparable (Li et al. 2018).
    Biases and scales stay."""
    numbers = np.random.default_rng(0)

    def direction() -> Weights:
        parts = []
        for weight in origin:
            part = numbers.standard_normal(weight.shape).astype(weight.dtype)
            if weight.ndim < 2:
                part[...] = 0
            else:
                inner = tuple(range(1, weight.ndim))
                part *= np.sqrt(
                    np.square(weight).sum(inner, keepdims=True)
                    / np.square(part).sum(inner, keepdims=True)
                )
            parts.append(part)
        return parts

    return Plane(origin, (direction(), direction()))


class _Losses:
    """The losses of a network at weights."""

    def __init__(self, made: Any, samples: int) -> None:
        if not isinstance(made, tuple) or len(made) != 4:
            raise TypeError(
                f"For '{_OP}', 'callback_fn' must return a model, its network, a dataset and its metrics, but got "
                f"{type(made).__name__}."
            )
        from mindspore.dataset import Dataset  # these two when they are needed
        from mindspore.train.model import Model

        for value, kind in zip(made, (Model, Cell, Dataset, dict)):
            check_value(kind, value, f"the {kind.__name__} that callback_fn returns", _OP)
        self._model, self.network, data, metrics = made
        own = self._model._metric_fns or {}
        names = [name for name, m in metrics.items() if isinstance(m, Loss) and name in own]
        if not names:
            raise ValueError(
                f"For '{_OP}', 'callback_fn' must return metrics that its model has, with a Loss, but got {metrics}."
            )
        self._name, size = names[0], data.get_batch_size()
        self._data = data.take(max(min(samples, data.get_dataset_size() * size) // size, 1))
        self.parameters: list[Parameter] = list(self.network.trainable_params())
        used = {id(p) for p in self._model._network.get_parameters()}
        if not self.parameters or any(id(p) not in used for p in self.parameters):
            raise ValueError(
                f"For '{_OP}', 'callback_fn' must return the network of its model, with trainable Parameters, but got "
                f"{'another one' if self.parameters else 'one without'}."
            )

    def load(self, file: str) -> Weights:
        """The weights of a checkpoint, which the network has from then on."""
        missing, _ = load_param_into_net(self.network, load_checkpoint(file), strict_load=True)
        if missing:
            raise ValueError(
                f"For '{_OP}', 'callback_fn' must return the network that was trained, but {file} lacks {missing[:3]}."
            )
        return [np.array(p.asnumpy(), np.float32) for p in self.parameters]

    def here(self) -> float:
        """The loss of the network as it is."""
        return float(self._model.eval(self._data, dataset_sink_mode=False)[self._name])

    def at(self, weights: Weights) -> float:
        """The loss at weights."""
        for parameter, weight in zip(self.parameters, weights):
            parameter.set_data(Tensor(weight).astype(parameter.dtype))
        return self.here()

    def row(self, plane: Plane, x: np.ndarray, y: float) -> list[float]:
        """Those of a row of a grid."""
        return [self.at(plane.at(float(a), y)) for a in x]


def _share_out(count: int, processes: int, work: Callable[[int], list[float]]) -> list[list[float]]:
    """The results of work numbered up to `count`, by this process or by several copies of it."""
    if processes < 2:
        return [work(i) for i in range(count)]
    context = multiprocessing.get_context("fork")  # the user's function may be of a notebook
    started = []
    for part in range(processes):
        receiver, sender = context.Pipe(duplex=False)

        def run(part: int = part, sender: Any = sender) -> None:
            try:
                sender.send([work(i) for i in range(part, count, processes)])
            except BaseException as error:
                sender.send(f"{type(error).__name__}: {error}")

        # No daemon: its dataset may have processes of its own.
        process = context.Process(target=run)
        process.start()
        sender.close()
        started.append((process, receiver))
    results: list[list[float]] = [[] for _ in range(count)]
    try:
        for part, (process, receiver) in enumerate(started):
            try:
                said = receiver.recv()
            except EOFError:
                process.join()
                said = f"it ended with {process.exitcode}"
            if isinstance(said, str):
                raise RuntimeError(f"For '{_OP}', process {part} has failed: {said}")
            results[part::processes] = said
    finally:
        for process, _ in started:
            process.kill()
            process.join()
    return results


class SummaryLandscape:
    """Draws the losses around the weights that a training went through: over the plane that they vary in most, with the path of the
    training in it, and over a plane by chance around the last ones.

    Args:
        summary_dir: the folder of a SummaryCollector that was told to `collect_landscape`.

    Examples:
        >>> keep = {"landscape_size": 20, "unit": "epoch", "intervals": [[1, 2, 3, 4]], "num_samples": 512}
        >>> collector = SummaryCollector("./summary", collect_specified_data={"collect_landscape": keep})
        >>> model.train(4, data, callbacks=[collector])
        >>> def evaluated():
        ...     net, metrics = Net(), {"Loss": Loss()}
        ...     return Model(net, nn.MSELoss(), metrics=metrics), net, data, metrics
        >>> SummaryLandscape("./summary").gen_landscapes_with_multi_process(evaluated, device_ids=[0, 1])
    """

    def __init__(self, summary_dir: Any) -> None:
        self._folder = Path(_paths.checked("SummaryLandscape", "summary_dir", summary_dir))

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Callable[[], tuple],
        collect_landscape: dict[str, Any] | None = None,
        device_ids: list[int] | None = None,
        output: Any = None,
    ) -> None:
        """Writes the landscapes to a file of events.

        Args:
            callback_fn: makes a Model, its network, the dataset that the losses are of, and the metrics, with a Loss among them. The
                dataset must give the same rows each time: not shuffled, or with a seed.
            collect_landscape: what is drawn otherwise than the collector was told.
            device_ids: as many processes share the work as it has numbers.
            output: the folder of the file; without it that of the collector.
        """
        if not callable(callback_fn):
            raise TypeError(
                f"For '{_OP}', 'callback_fn' must be a function, but got {type(callback_fn).__name__}."
            )
        ids = check_value(list, [0] if device_ids is None else device_ids, "device_ids", _OP)
        for number in ids:
            check_value(int, number, "each of device_ids", _OP)
        kept = Kept.read(_OP, self._folder)
        settings = kept.changed(_OP, collect_landscape)
        losses = _Losses(callback_fn(), settings.num_samples)
        with SummaryRecord(self._folder if output is None else output) as record:
            for tag, drawn in self._drawn(losses, kept, settings, max(len(ids), 1)):
                record._add("landscape", tag, drawn)
                record.record(0)

    def _drawn(self, losses: _Losses, kept: Kept, settings: Settings, processes: int) -> Any:
        """Each landscape and its name."""

        def draw(plane: Plane, **more: Any) -> dict[str, Any]:
            x, y = plane.axes(settings.landscape_size)
            rows = _share_out(len(y), processes, lambda row: losses.row(plane, x, float(y[row])))
            place = {"unit": settings.unit, "steps": kept.steps}
            end = (np.zeros(1), np.zeros(1), np.array([losses.at(plane.origin)]))
            return {"grid": (x, y, np.array(rows)), "end": end, **place, **more}

        if settings.create_landscape["train"]:
            for numbers in settings.intervals:
                path, heights = [], []
                for number in numbers:
                    path.append(losses.load(kept.file(_OP, number)))
                    heights.append(losses.here())
                plane = principal_plane(path)
                points = (*plane.points, np.array(heights))  # type: ignore[misc]
                yield (
                    f"landscape_{[numbers[0], numbers[-1]]}",
                    draw(plane, kind="PCA", numbers=numbers, path=points),
                )
        if settings.create_landscape["result"]:
            last = max(number for interval in settings.intervals for number in interval)
            plane = random_plane(losses.load(kept.file(_OP, last)))
            yield f"landscape_{[last]}", draw(plane, kind="Random")

    def clean_ckpt(self) -> None:
        """Removes the checkpoints that the collector kept."""
        Kept.read("SummaryLandscape.clean_ckpt", self._folder).remove()


__all__ = ["SummaryLandscape"]
