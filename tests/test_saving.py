"""Saving values in files: both formats, files of other programs, and malicious files."""

import io
import json
import os
import stat
import tempfile
import warnings
import zipfile

import numpy as np
import pytest
import safetensors.numpy

import micrograd_plus as mg
from micrograd_plus import nn, optim

FORMATS = pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
NUMBERS = ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]


def equal(one, other):
    """Return whether nested states have the same keys, dtypes and values."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if hasattr(one, "dtype"):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and np.array_equal(np.asarray(one.tolist()), np.asarray(other.tolist()), equal_nan=True)
    return one == other and type(one) is type(other)


@FORMATS
def test_a_nested_state_comes_back_as_it_was(tmp_path, suffix):
    state = {
        "weights": {
            "0.weight": mg.tensor(np.arange(6.0).reshape(2, 3)),
            "none": mg.tensor(np.zeros((0, 4), np.float32)),
        },
        "single": np.float64(3.5),
        "special": np.array([np.nan, np.inf, -0.0]),
        "fortran": np.asfortranarray([[1, 2], [3, 4]]),
        "step": 7,
        "lr": 1e-3,
        "name": "first try ∂",
        "flags": [True, None, {"a": [1, 2]}],
        "empty": {},
    }
    mg.save(state, tmp_path / f"state{suffix}")
    back = mg.load(tmp_path / f"state{suffix}")
    assert equal(back, state)
    assert not back["weights"]["0.weight"].requires_grad


@FORMATS
@pytest.mark.parametrize("kind", NUMBERS)
def test_every_kind_of_number_comes_back(tmp_path, suffix, kind):
    state = {"x": np.array([[0, 1], [1, 1]]).astype(kind)}
    mg.save(state, tmp_path / f"state{suffix}")
    assert equal(mg.load(tmp_path / f"state{suffix}"), state)


@FORMATS
def test_training_continues_exactly_after_save_and_load(tmp_path, suffix):
    def step(net, adam):
        adam.zero_grad()
        nn.functional.mse_loss(net(mg.tensor([[1.0, 2.0]])), mg.tensor([[3.0]])).backward()
        adam.step()

    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    adam = optim.Adam(net.parameters())
    step(net, adam)
    mg.save({"model": net.state_dict(), "optimizer": adam.state_dict()}, tmp_path / f"run{suffix}")
    other = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    other_adam = optim.Adam(other.parameters())
    state = mg.load(tmp_path / f"run{suffix}")
    other.load_state_dict(state["model"])
    other_adam.load_state_dict(state["optimizer"])
    step(net, adam)
    step(other, other_adam)
    assert [p.tolist() for p in net.parameters()] == [p.tolist() for p in other.parameters()]


def test_the_safetensors_package_reads_our_files(tmp_path):
    state = {
        "x": np.arange(6.0).reshape(2, 3),
        "y": np.array(True),
        "z": np.arange(3, dtype=np.int8),
        "none": np.zeros((0, 2)),
    }
    mg.save(state, tmp_path / "x.safetensors")
    content = (tmp_path / "x.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    assert length % 8 == 0
    for name, entry in json.loads(content[8 : 8 + length]).items():
        assert entry["data_offsets"][0] % state[name].itemsize == 0, name
    read = safetensors.numpy.load_file(tmp_path / "x.safetensors")
    assert read.keys() == state.keys()
    for name, array in state.items():
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array)


def test_files_of_the_safetensors_package_are_read(tmp_path):
    state = {f"x.{kind}": np.array([[0, 1, 2]]).astype(kind) for kind in NUMBERS} | {
        "single": np.float32([5])[0]
    }
    arrays = {name: np.asarray(array) for name, array in state.items()}
    safetensors.numpy.save_file(arrays, tmp_path / "x.safetensors", metadata={"format": "np"})
    assert equal(mg.load(tmp_path / "x.safetensors"), {**state, "format": "np"})


def test_numpy_reads_our_files_and_we_read_its(tmp_path):
    mg.save({"a": {"b": mg.tensor([1.0, 2.0])}}, tmp_path / "ours.npz")
    with np.load(tmp_path / "ours.npz", allow_pickle=False) as read:
        assert read.files == ["a/b"]
        assert read["a/b"].tolist() == [1.0, 2.0]
    np.savez(tmp_path / "theirs.npz", x=np.eye(2), y=np.float32(3))
    assert equal(mg.load(tmp_path / "theirs.npz"), {"x": np.eye(2), "y": np.float32(3)})


@FORMATS
def test_a_failed_save_leaves_the_old_file(tmp_path, suffix):
    path = tmp_path / f"state{suffix}"
    mg.save({"x": mg.tensor([1.0])}, path)
    with pytest.raises(TypeError, match="'y'"):
        mg.save({"x": mg.tensor([2.0]), "y": np.array(["a", None], dtype=object)}, path)
    assert mg.load(path)["x"].tolist() == [1.0]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@FORMATS
def test_save_writes_the_temporary_file_beside_the_target(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    mg.save({"x": mg.tensor([1.0])}, tmp_path / f"state{suffix}")
    assert mg.load(tmp_path / f"state{suffix}")["x"].tolist() == [1.0]


@pytest.mark.skipif(os.name == "nt", reason="rights of a group and of others are Unix's")
@FORMATS
def test_a_saved_file_has_default_permissions(tmp_path, suffix):
    usual = os.umask(0o027)
    (tmp_path / "plain").write_bytes(b"")
    mg.save({"x": mg.tensor([1.0])}, tmp_path / f"state{suffix}")
    assert os.umask(usual) == 0o027
    assert stat.S_IMODE((tmp_path / f"state{suffix}").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain").stat().st_mode
    )


@pytest.mark.parametrize(
    ("state", "kind", "sentence"),
    [
        ({"a/b": 1}, ValueError, "the key 'a/b' must be text without '/'"),
        ({"a": {3: 1}}, ValueError, "the key 3 must be text"),
        ({"": 1}, ValueError, "the key '' must be text"),
        ([1], TypeError, r"save expects a dictionary, such as model.state_dict\(\)"),
        ({"a": {1, 2}}, TypeError, "'a' is set; a state holds tensors, arrays, dicts"),
        ({"a": [np.zeros(2)]}, TypeError, "'a' is list; a state holds"),
    ],
)
def test_save_names_the_value_that_it_cannot_store(tmp_path, state, kind, sentence):
    with pytest.raises(kind, match=sentence):
        mg.save(state, tmp_path / "x.npz")


def test_save_rejects_other_file_suffixes(tmp_path):
    with pytest.raises(
        ValueError, match=r"model.pkl: a file of values ends in .npz or .safetensors, not '.pkl'"
    ):
        mg.load(tmp_path / "model.pkl")


# Malicious files --------------------------------------------------------------------------------------------


def pack(header, data=b"", length=None):
    """Return a .safetensors file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(start, end, shape=(1,), dtype="F64", **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end], **more}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "it claims a header of 0 bytes"),
        (pack(b"{}", length=2**63), "it claims a header of 9,223,372,036,854,775,808 bytes"),
        (pack(b"[1]"), "its header is not a JSON object"),
        (pack(b" {}"), "its header is not a JSON object"),
        (pack(b"{"), "its header is not JSON"),
        (pack(b"\xff\xfe"), "its header is not JSON"),
        (pack(b'{"a":' * 100_000), "its header is not JSON"),
        (pack(b'{"a": 1, "a": 2}'), "a name stands in it twice"),
        (pack({"__metadata__": {"a": 1}}), "__metadata__ is not a dict of text"),
        (pack({"x": [1]}), "'x' must have dtype, shape and data_offsets"),
        (pack({"x": entry(0, 8, more=1)}, bytes(8)), "'x' must have dtype, shape and data_offsets"),
        (pack({"x": entry(0, 8, dtype="O")}, bytes(8)), "'x' is of dtype O; known are BOOL"),
        (pack({"x": entry(0, 8, dtype=["F64"])}, bytes(8)), r"'x' is of dtype \['F64'\]"),
        (pack({"x": entry(0, 8, shape=(-1, -1))}, bytes(8)), r"'x' has shape \[-1, -1\]"),
        (pack({"x": entry(0, 8, shape=(True,))}, bytes(8)), r"'x' has shape \[True\]"),
        (pack({"x": entry(8, 0)}, bytes(8)), r"data_offsets \[8, 0\]"),
        (pack({"x": entry(0, 8.0)}, bytes(8)), r"data_offsets \[0, 8.0\]"),
        (
            pack({"x": entry(0, 8, shape=(2**62,))}, bytes(8)),
            "'x' needs 36893488147419103232 bytes and claims those from 0 to 8",
        ),
        (
            pack({"x": entry(0, 2**63, shape=(2**60,))}, bytes(8)),
            "its tensors take 9223372036854775808 bytes and 8 follow",
        ),
        (pack({"x": entry(0, 8), "y": entry(0, 8)}, bytes(8)), "tensors overlap at byte 0"),
        (pack({"x": entry(0, 8), "y": entry(16, 24)}, bytes(24)), "tensors leave a gap at byte 8"),
        (pack({"x": entry(0, 8)}, bytes(9)), "its tensors take 8 bytes and 9 follow"),
        (pack({"x": entry(0, 8)}, bytes(7)), "its tensors take 8 bytes and 7 follow"),
    ],
)
def test_a_hostile_safetensors_file_is_rejected_with_a_reason(tmp_path, content, sentence):
    (tmp_path / "x.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=r"x.safetensors cannot be read as .safetensors: .*" + sentence):
        mg.load(tmp_path / "x.safetensors")


def npy(header, data=b"", version=(1, 0)):
    """Return an .npy entry with any header."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(2, "little") + text + data


def zip_entry(name, content, method=zipfile.ZIP_STORED, *, twice=False):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(1 + twice):
            archive.writestr(name, content)
    return file.getvalue()


def npz_with_pickle():
    file = io.BytesIO()
    np.savez(file, x=np.array([{}], dtype=object), allow_pickle=True)
    return file.getvalue()


def flip_bit(content, mark):
    """Flip one bit just before a marker."""
    place = content.index(mark) - 1
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


DIGITS = np.random.default_rng(0).bytes(200)
FLOATS = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"nothing of the kind", "not a zip file"),
        (npz_with_pickle(), "'x.npy' holds Python objects, which could run code"),
        (zip_entry("x.npy", npy(FLOATS % "(1000,)", bytes(8))), "'x.npy' claims 1000 entries and holds 1"),
        (zip_entry("x.npy", npy(FLOATS % "(2**62, 8)", bytes(8))), ""),
        (
            zip_entry("x.npy", npy(FLOATS % "(4611686018427387904, 8)", bytes(8))),
            "has more entries than there can be",
        ),
        (zip_entry("x.npy", npy(FLOATS % "(-1,)", bytes(8))), r"claims the shape \(-1,\)"),
        (zip_entry("x.npy", npy(FLOATS % "(1,)", bytes(7))), ""),
        (zip_entry("x.npy", npy("{'descr': __import__('os'), 'fortran_order': False, 'shape': ()}")), ""),
        (zip_entry("x.npy", npy(FLOATS % "(1,)", bytes(8), (9, 0))), ""),
        (zip_entry("x.npy", b"\x93NUMPY\x03\x00" + bytes(40)), r"'x.npy' is of an unknown version \(3, 0\)"),
        (
            zip_entry("x.npy", npy(FLOATS % "(125000,)", bytes(1_000_000)), zipfile.ZIP_DEFLATED),
            "claim more bytes than it has",
        ),
        (zip_entry("x.npy", DIGITS, zipfile.ZIP_DEFLATED), "'x.npy' is compressed; what is kept here is not"),
        (zip_entry("x.npy", npy(FLOATS % "(1,)", bytes(8)), twice=True), "it holds 'x' twice"),
        (flip_bit(zip_entry("x.npy", npy(FLOATS % "(1,)", bytes(8))), b"PK\x01\x02"), "Bad CRC-32"),
        (zip_entry("readme.txt", "hello"), ""),
    ],
    ids=[  # the bytes hold the time of day, and every process must find the same names
        "no zip file", "pickled", "too short", "an expression for a length", "more than memory", "a negative length",
        "half an entry", "a call for a dtype", "a later version", "a version without a header", "unpacks to more",
        "packed", "one name twice",
        "a flipped bit", "no array",
    ],
)  # fmt: skip
def test_a_hostile_npz_file_is_rejected_with_a_reason(tmp_path, content, sentence):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(ValueError, match=rf"x.npz cannot be read as .npz: .*{sentence}"):
        mg.load(tmp_path / "x.npz")


def test_the_second_version_of_an_npy_header_is_read_too(tmp_path):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.array([[1.0, 2.0]]), version=(2, 0))
    (tmp_path / "x.npz").write_bytes(zip_entry("x.npy", file.getvalue()))
    assert mg.load(tmp_path / "x.npz")["x"].tolist() == [[1.0, 2.0]]


def test_load_rejects_objects_and_colliding_names(tmp_path):
    np.savez(tmp_path / "text.npz", x=np.array(["a"]))
    with pytest.raises(ValueError, match=r"text.npz holds 'x' of dtype <U1: a tensor is made of numbers"):
        mg.load(tmp_path / "text.npz")
    np.savez(tmp_path / "twice.npz", **{"x": np.zeros(1), "x/y": np.zeros(1)})
    with pytest.raises(ValueError, match="holds a value 'x' and values below it, as in 'x/y'"):
        mg.load(tmp_path / "twice.npz")
    for remarks in ('{"a": 1}', '["a"]', "{"):
        np.savez(tmp_path / "remarks.npz", __metadata__=np.array(remarks))
        with pytest.raises(ValueError, match="its remarks are not a dict of text"):
            mg.load(tmp_path / "remarks.npz")


DIGITS_OF_A_LENGTH = 10**4000


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (zip_entry("x.npy", npy(FLOATS % ("-" * 9000 + "1"), bytes(8))), ""),
        (zip_entry("x.npy", npy("((((")), ""),
        (zip_entry("x.npy", npy("[[[[")), ""),
        (zip_entry("x.npy", npy(FLOATS % "(True,)", bytes(8))), r"claims the shape \(True,\)"),
        (zip_entry("x.npy", npy(FLOATS % f"({'9' * 4000},)", bytes(8))), ""),
        (
            zip_entry("x.npy", npy(FLOATS % f"({', '.join(['1'] * 70)},)", bytes(8))),
            "a shape must be a list of at most",
        ),
        (zip_entry("x.npy", npy(FLOATS % "(0, 9223372036854775808)")), "a length must be a whole number from 0"),
        (zip_entry("a/" * 100 + "a.npy", npy(FLOATS % "(1,)", bytes(8))), "nested more than 64 deep"),
    ],
    ids=["minus signs", "open brackets", "open lists", "a truth", "digits", "axes", "an axis too long", "a deep name"],
)  # fmt: skip
def test_a_damaged_npz_file_raises_file_error(tmp_path, content, sentence):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(mg.FileError, match=rf"^x.npz.*{sentence}"):
        mg.load(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (pack({"x": entry(0, 8, shape=(DIGITS_OF_A_LENGTH,) * 100)}, bytes(8)), "a shape must be a list of at most"),
        (pack({"x": entry(0, 8, shape=(DIGITS_OF_A_LENGTH,))}, bytes(8)), "a number of 13288 bits"),
        (pack({"x": entry(0, 8, shape=(1,) * 70)}, bytes(8)), "a shape must be a list of at most"),
        (pack({"x": entry(0, 0, shape=(0, 2**63))}, b""), "a length must be a whole number from 0"),
        (pack({"a/" * 100 + "a": entry(0, 8, shape=(1,))}, bytes(8)), "nested more than 64 deep"),
        (pack({"\ud800": entry(0, 8, shape=(1,))}, bytes(8)), "half of a pair of surrogates"),
    ],
    ids=["axes too long", "an axis too long", "axes", "no entries", "a deep name", "a surrogate"],
)  # fmt: skip
def test_a_damaged_safetensors_file_raises_file_error(tmp_path, content, sentence):
    (tmp_path / "x.safetensors").write_bytes(content)
    with pytest.raises(mg.FileError, match=rf"^x.safetensors.*{sentence}"):
        mg.load(tmp_path / "x.safetensors")


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
def test_a_file_with_changed_bytes_is_read_or_rejected(tmp_path, suffix):
    path, rng = tmp_path / f"x.{suffix}", np.random.default_rng(0)
    mg.save({"a": {"b": np.arange(6.0).reshape(2, 3), "c": np.float32([1, 2])}, "epoch": 3, "said": "yes"}, path)
    whole = path.read_bytes()
    kinds = set()
    for _ in range(1500):
        content = bytearray(whole[: rng.integers(len(whole))] if rng.random() < 0.2 else whole)
        for place in rng.integers(len(content), size=rng.integers(1, 4)) if content else ():
            content[place] = rng.integers(256)
        path.write_bytes(content)
        try:
            mg.load(path)
        except mg.FileError as error:
            assert str(error).startswith(path.name)  # noqa: PT017 - an error is not certain
            kinds.add(type(error))
    assert kinds == {mg.FileError}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are Unix's")
def test_load_rejects_folders_pipes_and_devices(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "zero.safetensors").symlink_to("/dev/zero")
    for name in ("pipe.npz", "folder.npz", "zero.safetensors"):
        with pytest.raises(mg.FileError, match=r"no regular file|is a folder"):
            mg.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        mg.load(tmp_path / "nowhere.npz")


def test_save_and_load_work_in_memory():
    net, file = nn.Linear(2, 3), io.BytesIO()
    mg.save({"net": net.state_dict(), "epoch": 3}, file)
    state = mg.load(file)
    assert state["epoch"] == 3
    assert state["net"]["weight"].tolist() == net.weight.tolist()
    with pytest.raises(mg.FileError, match=r"the file cannot be read as .safetensors"):
        mg.load(io.BytesIO(b"nothing"))


def test_save_rejects_a_state_that_load_would_reject(tmp_path):
    deep = {"x": 1.0}
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(ValueError, match="nested more than 64 dicts deep"):
        mg.save(deep, tmp_path / "x.npz")
    with pytest.raises(ValueError, match="no text that can be written"):
        mg.save({"\ud800": 1.0}, tmp_path / "x.npz")
    assert not list(tmp_path.iterdir())
