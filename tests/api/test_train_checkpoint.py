"""save_checkpoint, load_checkpoint and load_param_into_net."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.train import _match, serialization

GOLDEN = Path(__file__).parents[1] / "formats" / "golden"


class Net(nn.Cell):
    """A convolution, a normalization and a dense layer."""

    def __init__(self, classes=3):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.fc = nn.Dense(8, classes)

    def construct(self, x):
        return self.fc(self.norm(self.conv(x)).reshape((x.shape[0], -1)))


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.backbone = Net()


def values(net):
    return {p.name: p.asnumpy().copy() for p in net.get_parameters()}


def same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "net.ckpt")


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_round_trip(tmp_path, format):
    net, fresh = Net(), Net()
    path = str(tmp_path / f"net.{format}")
    ms.save_checkpoint(net, path, format=format)
    loaded = ms.load_checkpoint(path, format=format)
    assert all(isinstance(p, Parameter) and p.name == name for name, p in loaded.items())
    assert ms.load_param_into_net(fresh, loaded) == ([], [])
    same(values(net), values(fresh))
    other = Net()
    ms.load_checkpoint(path, other, format=format)
    same(values(net), values(other))


@pytest.mark.parametrize(
    "dtype",
    ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "bfloat16", "float32", "float64", "complex64", "complex128"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)])
def test_every_type_and_shape(path, dtype, shape):
    wanted = getattr(ms, dtype)
    array = np.arange(int(np.prod(shape))).reshape(shape)
    tensor = Tensor(array).astype(wanted)
    ms.save_checkpoint([{"name": "x", "data": tensor}], path)
    loaded = ms.load_checkpoint(path)["x"]
    assert loaded.dtype == wanted and tuple(loaded.shape) == shape
    np.testing.assert_array_equal(
        loaded.astype(ms.float32).asnumpy(), tensor.astype(ms.float32).asnumpy()
    )


def test_bfloat16_keeps_all_bits(path):
    tensor = Tensor(np.array([1.5, -3.1415927, 1e30, 1e-40, np.inf], np.float32)).astype(
        ms.bfloat16
    )
    ms.save_checkpoint([{"name": "x", "data": tensor}], path)
    loaded = ms.load_checkpoint(path)["x"]
    np.testing.assert_array_equal(
        loaded.astype(ms.float32).asnumpy(), tensor.astype(ms.float32).asnumpy()
    )


def test_what_can_be_saved(path):
    net = Net()
    x = Tensor([1.0])
    for obj in ({"x": x}, [{"name": "x", "data": x}], [Parameter(x, name="x")]):
        ms.save_checkpoint(obj, path)
        assert list(ms.load_checkpoint(path)) == ["x"]
    ms.save_checkpoint(net, path, choice_func=lambda name: name.startswith("fc"))
    assert list(ms.load_checkpoint(path)) == ["fc.weight", "fc.bias"]
    ms.save_checkpoint(net, path[:-5])
    assert "conv.weight" in ms.load_checkpoint(path)


def test_append_dict(path):
    extra = {"epoch": 3, "lr": 0.5, "done": True, "note": "größer", "t": Tensor([1, 2])}
    ms.save_checkpoint({"x": Tensor([1.0])}, path, append_dict=extra)
    loaded = ms.load_checkpoint(path)
    assert loaded["epoch"].dtype == ms.int64 and int(loaded["epoch"].asnumpy()) == 3
    assert loaded["lr"].dtype == ms.float32 and loaded["done"].dtype == ms.bool_
    assert loaded["note"] == "größer"
    assert loaded["t"].asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_which_names_are_loaded(tmp_path, format):
    path = str(tmp_path / f"net.{format}")
    ms.save_checkpoint(Net(), path, format=format)

    def names(**options):
        return set(ms.load_checkpoint(path, format=format, **options))

    assert all(not n.startswith("fc") for n in names(filter_prefix="fc"))
    assert names(filter_prefix=["fc", "norm"]) == {"conv.weight"}
    assert names(specify_prefix="fc") == {"fc.weight", "fc.bias"}
    assert names(specify_prefix=("fc", "conv"), filter_prefix="fc.w") == {"fc.bias", "conv.weight"}
    assert names(choice_func=lambda n: n == "fc.bias") == {"fc.bias"}
    assert names(choice_func=lambda n: 1 if n == "fc.bias" else None) == {"fc.bias"}
    # As in MindSpore: a prefix is all that counts where there is one.
    assert names(specify_prefix="conv", choice_func=lambda n: n == "fc.bias") == {"conv.weight"}
    for options in ({"specify_prefix": "zz"}, {"choice_func": lambda n: False}):
        with pytest.raises(ValueError, match="at least one parameter must be loaded"):
            names(**options)
    for prefix in ("", [], ["fc", ""]):
        with pytest.raises(ValueError, match="'filter_prefix' must not be empty"):
            names(filter_prefix=prefix)


def test_a_file_without_parameters(path):
    ms.save_checkpoint({}, path)
    with pytest.raises(ValueError, match="at least one parameter must be loaded"):
        ms.load_checkpoint(path)


@pytest.mark.parametrize("name", ["mindspore_2_10", "mindspore_2_10_crc"])
def test_files_of_mindspore(name):
    loaded = ms.load_checkpoint(str(GOLDEN / f"{name}.ckpt"))
    assert loaded["matrix"].asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loaded["brain"].astype(ms.float32).asnumpy().tolist() == [1.5, -2.5]
    assert loaded["scalar"].shape == () and loaded["note"] == "größer"


def test_a_network_of_mindspore():
    net = Net()
    before = values(net)
    loaded = ms.load_checkpoint(str(GOLDEN / "mindspore_2_10_net.ckpt"))
    assert ms.load_param_into_net(net, loaded) == ([], [])
    assert (values(net)["fc.weight"] != before["fc.weight"]).any()


def test_safetensors_of_mindspore():
    loaded = ms.load_checkpoint(str(GOLDEN / "mindspore_2_10.safetensors"), format="safetensors")
    assert set(loaded) == {"matrix", "long"}
    assert loaded["matrix"].asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_conversions(tmp_path):
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint(Net(), path, append_dict={"note": "text"})
    before = ms.load_checkpoint(path)
    assert serialization.ckpt_to_safetensors(path) == str(tmp_path / "net.safetensors")
    os.remove(path)
    serialization.safetensors_to_ckpt(str(tmp_path / "net.safetensors"))
    after = ms.load_checkpoint(path)
    assert set(before) == set(after) and after["note"] == "text"


# Into a network


class Bag(nn.Cell):
    """Parameters of these names, all (2, 2) and zero."""

    def __init__(self, *names):
        super().__init__()
        for index, name in enumerate(names):
            setattr(self, f"p{index}", Parameter(Tensor(np.zeros((2, 2), np.float32)), name=name))
            getattr(self, f"p{index}").name = name


def numbered(*names):
    """A dict whose first value is all 1, the second all 2, and so on."""
    return {
        name: Parameter(Tensor(np.full((2, 2), i + 1, np.float32)), name=name)
        for i, name in enumerate(names)
    }


def load_into(bag, given, strict=False):
    """What the function returns, and for each parameter the number it got."""
    result = ms.load_param_into_net(bag, given, strict)
    return result, {p.name: int(p.asnumpy()[0, 0]) for p in bag.get_parameters()}


# (names of the network, names in the dict, the two lists, the numbers): all as MindSpore 2.10 does.
MATCHES = {
    "all": ("w b", "w b", "", "", [1, 2]),
    "missing": ("w b", "w", "b", "", [1, 0]),
    "extra": ("w", "w z", "", "z", [1]),
    "nothing": ("w b", "wx bx", "w b", "wx bx", [0, 0]),
    "no dict": ("w b", "", "w b", "", [0, 0]),
    "prefix": ("w b", "x.w x.b", "", "x.w x.b", [1, 2]),
    "prefix and a part": ("w b c", "x.w x.b", "c", "x.w x.b", [1, 2, 0]),
    "the first has no partner": ("q w b", "x.w x.b", "q", "x.w x.b", [0, 1, 2]),
    "some are exact": ("w b", "w x.b", "", "x.b", [1, 2]),
    "exact goes first": ("w b", "w x.w x.b", "", "x.w x.b", [1, 3]),
    "longer prefix": ("f.w f.b", "n.f.w n.f.b", "", "n.f.w n.f.b", [1, 2]),
    "prefix without a dot": ("w b", "xw xb", "", "xw xb", [1, 2]),
    "two prefixes, the first": ("w b", "y.w y.b x.w x.b", "", "y.w y.b x.w x.b", [1, 2]),
    "a prefix stays": ("w b", "z.b x.w x.b", "", "z.b x.w x.b", [2, 3]),
    "a prefix for each": ("w b", "z.b y.b x.w", "", "z.b y.b x.w", [3, 1]),
    "prefix in the network": ("x.w x.b", "w b", "x.w x.b", "w b", [0, 0]),
    "prefix inside": ("w m.w", "net.w m.net.w", "m.w", "net.w m.net.w", [1, 0]),
}


@pytest.mark.parametrize("case", MATCHES)
def test_which_name_goes_where(case, caplog):
    wanted, given, missing, unexpected, numbers = MATCHES[case]
    lists, got = load_into(Bag(*wanted.split()), numbered(*given.split()))
    assert lists == (missing.split(), unexpected.split())
    assert list(got.values()) == numbers


def test_a_value_goes_into_one_parameter():
    """Where MindSpore gives "w" the value of "f.w", which the network has as well."""
    assert load_into(Bag("w", "f.w"), numbered("f.w")) == ((["w"], []), {"w": 0, "f.w": 1})


def test_texts_are_left_alone():
    given = {**numbered("w"), "note": "text", "b": "text"}
    assert load_into(Bag("w", "b"), given) == ((["b"], ["note"]), {"w": 1, "b": 0})


def test_strict_names():
    """They must be the same; what is missing is listed, as in MindSpore."""
    assert load_into(Bag("w", "b"), numbered("w", "z"), True) == ((["b"], ["z"]), {"w": 1, "b": 0})
    lists, got = load_into(Bag("w", "b"), numbered("x.w", "x.b"), True)
    assert lists == (["w", "b"], ["x.w", "x.b"]) and set(got.values()) == {0}


def test_a_load_of_a_file_passes_everything_on(tmp_path):
    path = str(tmp_path / "a.safetensors")
    ms.save_checkpoint(numbered("x.w", "x.b"), path, format="safetensors")
    for strict, number in ((True, 0), (False, 1)):
        bag = Bag("w", "b")
        loaded = ms.load_checkpoint(path, bag, strict, format="safetensors")
        assert list(loaded) == ["x.w", "x.b"] and bag.p0.asnumpy()[0, 0] == number
    bag = Bag("w", "b")
    only = ms.load_checkpoint(path, bag, choice_func=lambda n: "w" in n, format="safetensors")
    assert list(only) == ["x.w"]
    assert bag.p0.asnumpy()[0, 0] == 1 and bag.p1.asnumpy()[0, 0] == 0


@pytest.fixture
def warnings(monkeypatch):
    """The texts of all warnings."""
    texts: list[str] = []
    monkeypatch.setattr(serialization.log, "warning", texts.append)
    return texts


def test_one_warning_with_close_names(warnings):
    net = Net()
    loaded = {
        f"{n.replace('weight', 'wieght')}x": Parameter(p, name=n)
        for n, p in net.parameters_dict().items()
    }
    before = values(net)
    lists = ms.load_param_into_net(net, loaded)
    assert lists == (list(net.parameters_dict()), list(loaded))
    (text,) = warnings
    assert (
        "7 parameters of the network keep their values: 'conv.weight' (close: 'conv.wieghtx')"
        in text
    )
    assert "7 in 'parameter_dict' are not used: 'conv.wieghtx' (close: 'conv.weight')" in text
    assert "and 2 more" in text and len(text.splitlines()) == 3
    same(before, values(net))


def test_close_names_among_many(warnings):
    names = [f"layers.{i}.attention.proj_{j}.weight" for i in range(12) for j in range(12)]
    given = {name.replace("attention", "attn"): None for name in names}
    found, prefixes = _match.partners(names, given, False)
    text = _match.report(dict.fromkeys(names), given, found, prefixes)
    for name in names[:5]:
        assert f"'{name}' (close: '{name.replace('attention', 'attn')}')" in text
    assert "144 parameters" in text and "144 in 'parameter_dict'" in text and found == {}


def test_what_is_worth_a_warning(warnings):
    load_into(Bag("w"), numbered("w", "z"))
    assert warnings == []
    load_into(Bag("w"), numbered("x.w"))
    assert "names that begin with 'x.' are taken without it" in warnings.pop()
    load_into(Bag("w", "b"), {})
    assert "2 parameters of the network keep their values: 'w', 'b'" in warnings.pop()
    assert warnings == []


def test_a_network_in_another(path):
    outer, net = Outer(), Net()
    ms.save_checkpoint(outer, path)
    missing, unexpected = ms.load_param_into_net(net, ms.load_checkpoint(path))
    assert missing == [] and len(unexpected) == len(values(net))
    same(values(net), {n.removeprefix("backbone."): v for n, v in values(outer).items()})


def test_strict_types():
    net = Net()
    half = {n: Parameter(p.astype(ms.float16), name=n) for n, p in net.parameters_dict().items()}
    assert ms.load_param_into_net(net, half) == ([], [])
    assert net.fc.weight.dtype == ms.float32
    with pytest.raises(RuntimeError, match=r"must be Float32.*strict_load=False converts it"):
        ms.load_param_into_net(net, half, strict_load=True)


def test_redundancy_is_for_parallel_training(path):
    ms.save_checkpoint(Net(), path)
    assert len(ms.load_checkpoint(path, remove_redundancy=True)) == 7
    with pytest.raises(TypeError, match="must be False outside of parallel training"):
        ms.load_checkpoint(path, Net(), remove_redundancy=True)
    with pytest.raises(ValueError, match="'remove_redundancy' must be a bool"):
        ms.load_param_into_net(Net(), {}, remove_redundancy=1)


def test_shapes_and_types_that_do_not_fit():
    net = Net(3)
    before = values(net)
    with pytest.raises(RuntimeError, match=r"'fc\.weight' must be \(3, 8\).*but got \(5, 8\)"):
        ms.load_param_into_net(net, {p.name: p for p in Net(5).get_parameters()})
    same(before, values(net))
    far = {f"m.{n}": p for n, p in Net(5).parameters_dict().items()}
    with pytest.raises(RuntimeError, match=r"'fc\.weight' must be .* got \(5, 8\) from 'm\.fc"):
        ms.load_param_into_net(net, far)
    same(before, values(net))
    integers = {"fc.bias": Parameter(Tensor(np.ones(3, np.int32)), name="fc.bias")}
    with pytest.raises(RuntimeError, match="must be Float32, as in the network, but got Int32"):
        ms.load_param_into_net(net, integers)
    column = {"fc.bias": Parameter(Tensor(np.ones((3, 1), np.float32)), name="fc.bias")}
    ms.load_param_into_net(net, column)
    assert net.fc.bias.asnumpy().tolist() == [1, 1, 1]


def test_all_that_does_not_fit_is_listed_with_what_would():
    bag, wrong = Bag("a.weight", "b.weight", "c"), numbered("a.weight", "b.weight", "c", "a.wieght")
    for name in ("a.weight", "b.weight"):
        wrong[name] = Parameter(Tensor(np.ones((7, 5), np.float32)), name=name)
    with pytest.raises(RuntimeError) as caught:
        ms.load_param_into_net(bag, wrong)
    first, second = str(caught.value).splitlines()
    assert "the shape of 'a.weight' must be" in first and first.endswith("(close: 'a.wieght')")
    assert "the shape of 'b.weight' must be" in second
    assert {int(p.asnumpy().ravel()[0]) for p in bag.get_parameters()} == {0}
    many = {f"w{i}": Parameter(Tensor(np.ones((7, 5), np.float32)), name=f"w{i}") for i in range(9)}
    with pytest.raises(RuntimeError, match=r"(?s)'w0'.*'w4'.*\n  and 4 more$"):
        ms.load_param_into_net(Bag(*many), many)


def test_a_loaded_network_computes_the_same(path, mode):
    net, fresh = Net(), Net()
    x = Tensor(np.ones((2, 1, 2, 2), np.float32))
    ms.save_checkpoint(net, path)
    first = fresh.set_train(False)(x)
    ms.load_checkpoint(path, fresh)
    np.testing.assert_array_equal(fresh(x).asnumpy(), net.set_train(False)(x).asnumpy())
    assert first is not None


# Failures


def test_damaged_file(path):
    ms.save_checkpoint(Net(), path)
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 4
    Path(path).write_bytes(content)
    with pytest.raises(ValueError, match=r"net\.ckpt' is damaged at byte \d+: ") as caught:
        ms.load_checkpoint(path)
    assert len(str(caught.value).splitlines()) <= 3


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_crc_check_tells_of_files_without_checksum(format, warnings):
    """As in MindSpore, it loads them."""
    path = str(GOLDEN / f"mindspore_2_10.{format}")
    for _ in range(2):
        assert "matrix" in ms.load_checkpoint(path, crc_check=True, format=format)
        assert "has no checksum" in warnings.pop()
    ms.load_checkpoint(str(GOLDEN / "mindspore_2_10_crc.ckpt"), crc_check=True)
    ms.load_checkpoint(str(GOLDEN / f"first_layout.{format}"), crc_check=True, format=format)
    assert warnings == []


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda p: ms.save_checkpoint(5, p), TypeError, "'save_obj' must be"),
        (lambda p: ms.save_checkpoint([5], p), TypeError, "a list in 'save_obj' must hold"),
        (lambda p: ms.save_checkpoint([{"name": 1, "data": Tensor(1)}], p), TypeError, "must hold"),
        (lambda p: ms.save_checkpoint({"x": 5}, p), TypeError, "'x' must be a Tensor"),
        (lambda p: ms.save_checkpoint({"x": Tensor(1)}, 5), TypeError, "'ckpt_file_name'"),
        (lambda p: ms.save_checkpoint(Net(), p + "/none/a"), FileNotFoundError, "must exist"),
        (lambda p: ms.save_checkpoint(Net(), p, format="h5"), ValueError, "'format' must be"),
        (lambda p: ms.save_checkpoint(Net(), p, enc_key=16), TypeError, "'enc_key' must be bytes"),
        (
            lambda p: ms.save_checkpoint(Net(), p, append_dict={"x": [1]}),
            TypeError,
            "'append_dict'",
        ),
        (lambda p: ms.save_checkpoint(Net(), p, async_save=1), TypeError, "'async_save'"),
        (lambda p: ms.save_checkpoint(Net(), p, async_save="x"), ValueError, "'async_save'"),
        (lambda p: ms.save_checkpoint(Net(), p, choice_func=1), TypeError, "'choice_func' must be"),
        (lambda p: ms.save_checkpoint({"\ud800": Tensor(1)}, p), ValueError, "a name must be text"),
        (
            lambda p: ms.save_checkpoint({}, p, append_dict={"x": "\ud800"}),
            ValueError,
            "the value of 'x' must be text",
        ),
        (lambda p: ms.save_checkpoint(Net(), p, colour=1), TypeError, "'colour' is not one"),
        (lambda p: ms.load_checkpoint(p + ".none.ckpt"), ValueError, "there is no"),
        (lambda p: ms.load_checkpoint("a.txt"), ValueError, "must end with '.ckpt'"),
        (lambda p: ms.load_checkpoint(5), TypeError, "'ckpt_file_name'"),
        (lambda p: ms.load_checkpoint(p, choice_func=1), TypeError, "'choice_func' must be"),
        (lambda p: ms.load_checkpoint(p, dec_key="k"), TypeError, "'dec_key' must be bytes"),
        (lambda p: ms.load_param_into_net(5, {}), TypeError, "'net' must be a Cell"),
        (lambda p: ms.load_param_into_net(Net(), 5), TypeError, "'parameter_dict' must be a dict"),
        (lambda p: ms.load_param_into_net(Net(), {"a": 5}), TypeError, "must be Parameters"),
        (
            lambda p: ms.export(Net(), file_name="a", file_format="ONNX"),
            NotImplementedError,
            "'ONNX' is not available",
        ),
    ],
)
def test_wrong_arguments(path, call, error, says):
    with pytest.raises(error, match=says):
        call(path)
    assert not os.path.exists(path)


def test_damaged_safetensors(tmp_path):
    path = tmp_path / "a.safetensors"
    ms.save_checkpoint({"x": Tensor(np.ones(4, np.float32))}, str(path), format="safetensors")
    content = path.read_bytes()
    cut = [content[:-1], content[:5], content[:-3] + b"abc", content + b"x", b"\xff" * 16]
    changed = [content.replace(b'"F32"', b'"F99"'), content.replace(b"[4]", b"[5]")]
    for damaged in cut + changed:
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="damaged"):
            ms.load_checkpoint(str(path), format="safetensors")


def test_old_paths():
    from mindspore.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint

    assert ms.save_checkpoint is save_checkpoint and ms.load_checkpoint is load_checkpoint
    assert ms.load_param_into_net is load_param_into_net
    assert serialization.tensor_to_ms_type["Float32"] == ms.float32
    assert serialization.tensor_to_np_type["Int8"] is np.int8
