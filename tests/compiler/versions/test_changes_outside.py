"""What a function does to lists, dicts, arrays and objects that were made outside of it, by whatever way, it does in compiled code on
every call, as Python does, and what it puts there are values."""

import array
import bisect
import collections
import functools
import heapq
import itertools
import operator
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, nn
from mindspore.compile.program.errors import RunsEagerly

X = np.array([1.0, -2.0, 3.0], np.float32)


class Log(list):
    def put(self, v):
        self.append(v)


class Config:
    n = 0


class Notes:
    def __init__(self):
        self.items, self.n = [], 0
        self.put = self.items.append

    def note(self, v):
        self.items.append(v)
        self.n += 1
        return self.n


class Outside:
    """What the programs change."""

    def __init__(self):
        self.kept, self.d, self.log, self.s = [], {}, Log(), set()
        self.dq, self.dd = collections.deque(), collections.defaultdict(list)
        self.od, self.cn = collections.OrderedDict(a=1, b=2), collections.Counter()
        self.arr, self.aa, self.nest = np.zeros(3), array.array("d"), [[], [[]]]
        self.cfg, self.obj, self.cell = Config(), Notes(), nn.Cell()
        self.cell.log = []
        self.sink, self.callbacks = self.kept.append, [self.kept.append]
        self.partial = functools.partial(operator.setitem, self.d)
        Config.n = 0

    def state(self):
        names = ("kept", "d", "log", "s", "dq", "dd", "od", "cn", "arr", "aa", "nest")
        found = {name: shown(getattr(self, name)) for name in names}
        objects = (self.cfg, self.obj, self.cell)
        keys = ("k", "m", "n", "items", "log")
        found["objects"] = [{k: shown(v) for k, v in vars(o).items() if k in keys} for o in objects]
        found["class"] = Config.n
        return found


def shown(value):
    if isinstance(value, Tensor):
        assert not value.is_symbolic
        return value.asnumpy().tolist()
    if isinstance(value, (list, tuple, collections.deque, array.array, np.ndarray)):
        return [shown(v) for v in value]
    return {k: shown(v) for k, v in value.items()} if isinstance(value, dict) else value


PROGRAMS = {
    "list.append": lambda o: (lambda x: (list.append(o.kept, x * 2), x)[1], []),
    "operator.setitem": lambda o: (lambda x: (operator.setitem(o.d, "a", x * 2), x)[1], []),
    "sink": lambda o: (lambda x: (o.sink(x * 2), x)[1], []),
    "callbacks": lambda o: (lambda x: ([c(x * 2) for c in o.callbacks], x)[1], []),
    "box.put": lambda o: (lambda x: (o.obj.put(x * 2), x)[1], []),
    "partial": lambda o: (lambda x: (o.partial("k", x * 2), x)[1], []),
    "arg append": lambda o: (lambda x, put: (put(x * 2), x)[1], [o.kept.append]),
    "arg number": lambda o: (lambda x, put: (put(3), x)[1], [o.kept.append]),
    "arg setitem": lambda o: (lambda x, put: (put("a", x * 2), x)[1], [o.d.__setitem__]),
    "arg update": lambda o: (lambda x, put: (put(a=x * 2), x)[1], [o.d.update]),
    "arg deque": lambda o: (lambda x, put: (put(x * 2), x)[1], [o.dq.append]),
    "arg log.put": lambda o: (lambda x, put: (put(x * 2), x)[1], [o.log.put]),
    "arg partial": lambda o: (
        lambda x, put: (put(x * 2), x)[1],
        [functools.partial(list.append, o.kept)],
    ),
    "arg partial2": lambda o: (
        lambda x, put: (put(x * 2), x)[1],
        [functools.partial(o.d.__setitem__, "z")],
    ),
    "arg list of": lambda o: (lambda x, puts: ([p(x * 2) for p in puts], x)[1], [[o.kept.append]]),
    "arg dict of": lambda o: (lambda x, puts: (puts["a"](x * 2), x)[1], [{"a": o.kept.append}]),
    "map": lambda o: (lambda x: (list(map(o.kept.append, [x * 2])), x)[1], []),
    "extend": lambda o: (lambda x: (o.kept.extend([x * 2]), x)[1], []),
    "heappush": lambda o: (lambda x: (heapq.heappush(o.kept, 3), x)[1], []),
    "insort": lambda o: (lambda x: (bisect.insort(o.kept, 3), x)[1], []),
    "set.add": lambda o: (lambda x: (set.add(o.s, 3), x)[1], []),
    "dict.update": lambda o: (lambda x: (dict.update(o.d, a=x * 2), x)[1], []),
    "setattr": lambda o: (lambda x: (setattr(o.obj, "k", x * 2), x)[1], []),
    "vars": lambda o: (lambda x: (vars(o.obj).update(q=x * 2), x)[1], []),
    "collections": lambda o: (lambda x: (collections.deque.append(o.dq, x * 2), x)[1], []),
    "iadd": lambda o: (lambda x: (operator.iadd(o.kept, [x * 2]), x)[1], []),
    "iadd attr": lambda o: (lambda x: (o.kept.__iadd__([x * 2]), x)[1], []),
    "arr.fill": lambda o: (lambda x: (o.arr.fill(3), x)[1], []),
    "arr+=": lambda o: (lambda x: (np.add(o.arr, 1, out=o.arr), x)[1], []),
    "copyto": lambda o: (lambda x: (np.copyto(o.arr, 5), x)[1], []),
    "put": lambda o: (lambda x: (np.put(o.arr, [0], 7), x)[1], []),
    "setitem arr": lambda o: (lambda x: (o.arr.__setitem__(0, o.arr[0] + 9), x)[1], []),
    "arr.sort": lambda o: (
        lambda x: (
            o.arr.itemset(0, o.arr[0] - 1)
            if hasattr(o.arr, "itemset")
            else o.arr.put(0, o.arr[0] - 1),
            o.arr.sort(),
            x,
        )[2],
        [],
    ),
    "arg arr.fill": lambda o: (lambda x, f: (f(4), x)[1], [o.arr.fill]),
    "dd": lambda o: (lambda x: (o.dd["a"], x)[1], []),
    "dd append": lambda o: (lambda x: (o.dd["a"].append(x * 2), x)[1], []),
    "move": lambda o: (lambda x: (o.od.move_to_end("a"), x)[1], []),
    "pop": lambda o: (lambda x: (o.od.pop("a", None), x)[1], []),
    "counter.update": lambda o: (lambda x: (o.cn.update(["a"]), x)[1], []),
    "cn[]": lambda o: (lambda x: (o.cn.__setitem__("b", o.cn["b"] + 1), x)[1], []),
    "nest": lambda o: (lambda x: (o.nest[0].append(x * 2), o.nest[1][0].append(1), x)[2], []),
    "class attr": lambda o: (lambda x: (setattr(Config, "n", Config.n + 1), x * Config.n)[1], []),
    "inst attr": lambda o: (lambda x: (setattr(o.cfg, "n", o.cfg.n + 1), x * o.cfg.n)[1], []),
    "delattr": lambda o: (lambda x: (setattr(o.cfg, "m", 1), delattr(o.cfg, "m"), x)[2], []),
    "object.setattr": lambda o: (lambda x: (object.__setattr__(o.cfg, "k", x * 2), x)[1], []),
    "dunder setattr": lambda o: (lambda x: (o.cfg.__setattr__("k", x * 2), x)[1], []),
    "__dict__": lambda o: (lambda x: (o.cfg.__dict__.update(k=x * 2), x)[1], []),
    "__dict__[]": lambda o: (lambda x: (operator.setitem(o.cfg.__dict__, "k", x * 2), x)[1], []),
    "vars[]": lambda o: (lambda x: (operator.setitem(vars(o.cfg), "k", x * 2), x)[1], []),
    "cell.log": lambda o: (lambda x: (o.cell.log.append(x * 2), x)[1], []),
    "cell attr": lambda o: (lambda x: (setattr(o.cell, "m", x * 2), x)[1], []),
    "array": lambda o: (lambda x: (o.aa.append(1.0), x)[1], []),
    "obj method": lambda o: (lambda x: x * o.obj.note(x * 3), []),
    "obj arg": lambda o: (lambda x, o: x * o.note(x * 3), [o.obj]),
    "obj method arg": lambda o: (lambda x, f: x * f(x * 3), [o.obj.note]),
    "map lambda": lambda o: (
        lambda x: (list(map(lambda v: o.kept.append(v), [x, x * 2])), x)[1],  # noqa: C417
        [],
    ),
    "reduce": lambda o: (
        lambda x: functools.reduce(lambda a, b: (a.append(b), a)[1], [x, x * 2], o.kept)[0],
        [],
    ),
    "sorted key": lambda o: (
        lambda x: (sorted([3, 1, 2], key=lambda k: o.kept.append(k) or k), x)[1],
        [],
    ),
    "setdefault": lambda o: (lambda x: (o.d.setdefault("a", []).append(x * 2), x)[1], []),
    "star": lambda o: (lambda x: (o.kept.extend([*[x * 2]]), x)[1], []),
    "slice": lambda o: (lambda x: (operator.setitem(o.kept, slice(0, 0), [x * 2]), x)[1], []),
    "list arg inner": lambda o: (lambda x, given: (given[0].append(x * 2), x)[1], [o.nest]),
    "update d": lambda o: (lambda x: (o.d.update({"q": x * 2}), x)[1], []),
    "ior": lambda o: (lambda x: (operator.ior(o.d, {"q": x * 2}), x)[1], []),
    "methodcaller": lambda o: (
        lambda x: (operator.methodcaller("append", x * 2)(o.kept), x)[1],
        [],
    ),
    "attrgetter": lambda o: (lambda x: (operator.attrgetter("append")(o.kept)(x * 2), x)[1], []),
    "getattr": lambda o: (lambda x: (getattr(o.kept, "append")(x * 2), x)[1], []),  # noqa: B009
    "type call": lambda o: (lambda x: (type(o.kept).append(o.kept, x * 2), x)[1], []),
    "partial kw": lambda o: (lambda x: (functools.partial(o.d.update, z=x * 2)(), x)[1], []),
    "starmap": lambda o: (
        lambda x: (list(itertools.starmap(o.kept.insert, [(0, x * 2)])), x)[1],
        [],
    ),
}


def run(name, way):
    outside = Outside()
    function, arguments = PROGRAMS[name](outside)
    decorated = function if way == "eager" else jit(function)
    results = []
    for k in range(3):
        x = Tensor(X + k)
        if way == "grad":
            results.append(ms.grad(lambda v: decorated(v, *arguments).sum())(x))
        else:
            results.append(decorated(x, *arguments))
    return outside.state(), shown(results)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_outside(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunsEagerly)
        expected, compiled, recorded = (run(name, way) for way in ("eager", "jit", "grad"))
    assert compiled == expected
    assert recorded[0] == expected[0]
