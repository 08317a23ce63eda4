"""Names without a meaning here can be imported; using one says why it cannot work."""

import importlib

import pytest

import mindspore
from mindspore.common import _refused

OBJECTS = {
    "Tensor": mindspore.Tensor([1.0]),
    "ops.Primitive": mindspore.ops.Add(),
    "nn.Cell": mindspore.nn.ReLU(),
}


@pytest.mark.parametrize("path", _refused._WHY)
def test_using_it_says_why(path):
    home, _, name = path.rpartition(".")
    if home in OBJECTS:
        thing, name = getattr(OBJECTS[home], name), path
    else:
        thing = getattr(importlib.import_module(f"mindspore.{home}".rstrip(".")), name)
    with pytest.raises(NotImplementedError, match=f"For '{name}', ") as caught:
        thing(1, to=2)
    assert _refused._WHY[path] in str(caught.value)


def test_other_names_are_not_there():
    for home in ("mindspore", "mindspore.ops", "mindspore.nn", "mindspore.utils"):
        module = importlib.import_module(home)
        with pytest.raises(AttributeError, match=f"module '{home}' has no attribute 'nonsense'"):
            _ = module.nonsense


def test_the_report_does_not_call_them_present(monkeypatch, capsys):
    from differential import api

    monkeypatch.setattr("sys.argv", ["api", "boost"])
    api.main()
    assert "AutoBoost" not in capsys.readouterr().out
    assert api.found("mindspore.boost.AutoBoost")._ms_refused
