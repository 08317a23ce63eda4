"""Cells that hold others: indexed, changed, run."""

from differential.calllib import case, f32

X = f32(3, 2).value


def names(parameters):
    """The names, in order."""
    return [p.name for p in parameters]


@case("nn.SequentialCell")
def _(ms):
    """indexed, changed and run"""
    s = ms.nn.SequentialCell([ms.nn.ReLU(), ms.nn.Sigmoid()])
    s.append(ms.nn.Tanh())
    s.insert(0, ms.nn.Softmax())
    s[1] = ms.nn.ReLU6()
    part = s[1:3]
    del s[0]
    kinds = [type(c).__name__ for c in s]
    return [
        kinds,
        len(s),
        type(part).__name__,
        [type(c).__name__ for c in part],
        type(s[-1]).__name__,
        s(ms.Tensor(X)),
        list(s.name_cells()),
    ]


@case("nn.SequentialCell")
def _(ms):
    """of names"""
    from collections import OrderedDict

    s = ms.nn.SequentialCell(OrderedDict([("one", ms.nn.Dense(2, 2)), ("two", ms.nn.ReLU())]))
    return [list(s.name_cells()), names(s.get_parameters()), type(s.two).__name__]


@case("nn.CellList")
def _(ms):
    """indexed and changed"""
    c = ms.nn.CellList([ms.nn.Dense(2, 2), ms.nn.ReLU()])
    c.append(ms.nn.Tanh())
    c.extend([ms.nn.Sigmoid(), ms.nn.Dense(2, 1)])
    c.insert(1, ms.nn.Softmax())
    c[0] = ms.nn.Dense(2, 3)
    part = c[1:4:2]
    del c[2]
    return [
        [type(x).__name__ for x in c],
        len(c),
        [type(x).__name__ for x in part],
        names(c.get_parameters()),
        type(c[-1]).__name__,
    ]


@case("nn.CellDict")
def _(ms):
    """keyed and changed"""
    c = ms.nn.CellDict({"a": ms.nn.Dense(2, 2), "b": ms.nn.ReLU()})
    c["c"] = ms.nn.Tanh()
    c.update([["d", ms.nn.Sigmoid()], ["a", ms.nn.Dense(2, 1)]])
    gone = type(c.pop("b")).__name__
    del c["c"]
    found = [[k, type(v).__name__] for k, v in c.items()]
    return [
        found,
        gone,
        len(c),
        "a" in c,
        list(c.keys()),
        len(c.values()),
        names(c.get_parameters()),
    ]


for kind, action in (
    ("SequentialCell", lambda c, ms: c[5]),
    ("SequentialCell", lambda c, ms: c.append(3)),
    ("SequentialCell", lambda c, ms: c.__setitem__(0, 3)),
    ("SequentialCell", lambda c, ms: c.insert(9, ms.nn.ReLU())),
    ("CellList", lambda c, ms: c[5]),
    ("CellList", lambda c, ms: c.append(3)),
    ("CellList", lambda c, ms: c.extend(3)),
    ("CellList", lambda c, ms: c.insert(9, ms.nn.ReLU())),
    ("CellList", lambda c, ms: c(ms.Tensor(X))),
):

    @case(f"nn.{kind}")
    def _(ms, kind=kind, action=action):
        return action(getattr(ms.nn, kind)([ms.nn.ReLU(), ms.nn.Tanh()]), ms)


for action in (
    lambda c, ms: c["z"],
    lambda c, ms: c.pop("z"),
    lambda c, ms: c.update(3),
    lambda c, ms: c.__setitem__("z", 3),
    lambda c, ms: c.__setitem__(3, ms.nn.ReLU()),
    lambda c, ms: c.__setitem__("a.b", ms.nn.ReLU()),
):

    @case("nn.CellDict")
    def _(ms, action=action):
        return action(ms.nn.CellDict({"a": ms.nn.ReLU()}), ms)
