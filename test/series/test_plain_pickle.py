# SPDX-License-Identifier: Apache-2.0
"""Pickles of arrays and plain containers are read; everything else is refused, and nothing is executed."""

import bz2
import gzip
import lzma
import pickle
import pickletools
import struct
import zlib
from collections import OrderedDict
from contextlib import suppress
from time import monotonic

import numpy as np
import pytest
from joblib_files import dump_joblib

from humanoid_dynamics.series.bounded_reading import LIMIT_VARIABLE, ReadLimitError
from humanoid_dynamics.series.plain_pickle import PlainPickleError, load_plain_pickle

REFUSED = (PlainPickleError, ReadLimitError)
EXECUTED = []


def read(tmp_path, data):
    path = tmp_path / "motion.pkl"
    path.write_bytes(data)
    return load_plain_pickle(path)


def sample():
    rng = np.random.default_rng(1)
    return {
        "fps": np.float64(29.97),
        "root": rng.normal(size=(5, 3)).astype(np.float32),
        "turned": np.asfortranarray(rng.normal(size=(4, 2))),
        "big": rng.normal(size=3).astype(">f8"),
        "names": np.array(["left", "right"]),
        "flags": np.array([True, False]),
        "empty": np.zeros((0, 3)),
        "links": ["pelvis", ("torso", None, 3, -2.5, True, b"bytes")],
    }


def equal(a, b):
    if isinstance(b, np.ndarray):
        return a.shape == b.shape and np.array_equal(a, b)
    if isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in b)
    return a == b


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data_of_every_protocol_are_read(tmp_path, protocol):
    content = sample()
    assert equal(read(tmp_path, pickle.dumps(content, protocol)), content)
    assert equal(read(tmp_path, pickle.dumps(OrderedDict(content), protocol)), content)


@pytest.mark.parametrize("pack", [zlib.compress, gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_read(tmp_path, pack):
    assert equal(read(tmp_path, pack(pickle.dumps(sample()))), sample())


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("alignment", [True, False])
def test_arrays_of_joblib_are_read(tmp_path, protocol, alignment):
    content = {"walk": {name: part for name, part in sample().items() if name != "turned"}}
    path = tmp_path / "library.pkl"
    dump_joblib(content, path, protocol, alignment=alignment)
    assert equal(load_plain_pickle(path), content)


def execute(*_):
    EXECUTED.append(True)
    return {}


class Calls:
    def __init__(self, function, arguments):
        self.reduced = (function, arguments)

    def __reduce__(self):
        return self.reduced


def state_of(shape, dtype, data):
    """A pickle of an array with a state of its own."""
    body = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
    return body + pickle.dumps((1, shape, dtype, False, data), 2)[2:-1] + b"b."


MALICIOUS = {
    "os.system": b"cposix\nsystem\n(S'touch executed'\ntR.",
    "eval": b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.",
    "getattr": b"cbuiltins\ngetattr\n(cnumpy\nndarray\nS'dump'\ntR.",
    "inst": b"(S'touch executed'\niposix\nsystem\n.",
    "obj": b"(cposix\nsystem\nS'touch executed'\no.",
    "newobj_ex": b"\x80\x04\x8c\x0asubprocess\x8c\x05Popen\x93(\x8c\x02lsd\x7d\x92.",
    "newobj": b"\x80\x02csubprocess\nPopen\n]\x85\x81.",
    "persistent": b"Psomething\n.",
    "extension": b"\x80\x02\x82\x01.",
    "out-of-band buffer": b"\x80\x05\x97.",
    "global alone": b"\x80\x02cos\nsystem\n.",
    "global in a list": b"\x80\x02]cos\nsystem\na.",
    "other class of array": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncposix\nsystem\nK\x00\x85C\x01b\x87R.",
    "dtype of objects": b"\x80\x02cnumpy\ndtype\nX\x02\x00\x00\x00O8\x89\x88\x87R.",
    "dtype of a module": b"\x80\x02cnumpy\ndtype\ncos\nsystem\n\x85R.",
    "load of numpy": b"cnumpy\nload\n(S'x.npy'\ntR.",
    "f2py": b"cnumpy.testing._private.utils\nrunstring\n(S'import os'\n}tR.",
    "torch": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.",
    "build of a dictionary": b"\x80\x02}}b.",
    "attribute of joblib": b"\x80\x02cjoblib.numpy_pickle\nNDArrayWrapper\n)\x81}b.",
    "codec": b"c_codecs\nencode\n(X\x03\x00\x00\x00abcX\x03\x00\x00\x00rottR.",
    "memo that does not exist": b"\x80\x02h\x07.",
    "empty stack": b"\x80\x02.",
    "no mark": b"\x80\x02t.",
    "nothing": b"",
    "no end": pickle.dumps(sample())[:-1],
    "no pickle": b"\x80\x04hello world",
    "text": b"time,base_x\n0,1\n",
}


@pytest.mark.parametrize("name", MALICIOUS)
def test_everything_else_is_refused_without_execution(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(REFUSED):
        read(tmp_path, MALICIOUS[name])
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("protocol", range(6))
def test_reductions_are_not_called(tmp_path, protocol):
    for function, arguments in ((execute, (1,)), (eval, ("1",)), (exec, ("1",)), (print, ())):
        for content in (Calls(function, arguments), {"fps": Calls(function, arguments)}):
            with pytest.raises(PlainPickleError, match=r"was not executed|opcode"):
                read(tmp_path, pickle.dumps(content, protocol))
    assert not EXECUTED


def test_arrays_of_objects_and_wrong_sizes_are_refused(tmp_path):
    with pytest.raises(PlainPickleError, match="numbers or text"):
        read(tmp_path, pickle.dumps(np.array([Calls(execute, ()), 1], dtype=object)))
    number = np.dtype("f8")
    for shape in ((10**9, 10**9), (2**63, 2), (-1, 4), (3,), (2.0,), None, (1,) * 40):
        with pytest.raises(REFUSED):
            read(tmp_path, state_of(shape, number, bytes(16)))
    with pytest.raises(PlainPickleError, match="numbers or text"):
        read(tmp_path, state_of((2,), np.dtype([("x", "f4"), ("y", "f4")]), bytes(16)))
    assert not EXECUTED


def test_wrappers_of_joblib_cannot_ask_for_more_than_the_file_has(tmp_path):
    path = tmp_path / "library.pkl"
    dump_joblib({"x": np.zeros((10, 10))}, path)
    data = path.read_bytes()
    with pytest.raises(REFUSED):
        read(tmp_path, data.replace(b"K\x0aK\x0a\x86", b"K\xffK\xff\x86"))
    with pytest.raises(REFUSED):
        read(tmp_path, data[:-400])


def test_bombs_are_refused_soon(tmp_path, monkeypatch):
    began = monotonic()
    # one array of 1 MB, built many times
    data = pickle.dumps(bytes(10**6), 4)[:-1]
    again = (
        b"\x94"
        + b"cnumpy.core.numeric\n_frombuffer\n(h\x00cnumpy\ndtype\nX\x02\x00\x00\x00u1\x89\x88\x87RJ@B\x0f\x00\x85X\x01\x00\x00\x00CtR0"
    )
    with pytest.raises(ReadLimitError):
        read(tmp_path, data + again * 100 + b".")
    deep = b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."
    with pytest.raises(ReadLimitError, match="levels deep"):
        read(tmp_path, deep)
    key = b"\x80\x02}" + b")" + b"2\x86" * 60 + b"Ns."  # a key whose hash takes 2**60 steps
    with pytest.raises(PlainPickleError, match="key"):
        read(tmp_path, key)
    laughs = b"\x80\x02]" + b"".join(
        b"q" + bytes([i]) + b"]" + (b"h" + bytes([i])) * 10 + b"" for i in range(20)
    )
    with pytest.raises(REFUSED):
        read(tmp_path, laughs + b"e.")
    shared = [0.0]
    for _ in range(40):
        shared = [shared] * 10
    assert isinstance(read(tmp_path, pickle.dumps(shared)), list)  # shared, not copied
    loop = []
    loop.append(loop)
    assert read(tmp_path, pickle.dumps(loop)) == [None]
    memo = b"\x80\x02Nr" + struct.pack("<I", 2**32 - 1) + b"."
    assert read(tmp_path, memo) is None
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    for pack in (zlib.compress, gzip.compress, bz2.compress, lzma.compress):
        with pytest.raises(ReadLimitError):
            read(tmp_path, pack(bytes(5 * 10**6)))
    with pytest.raises(ReadLimitError):
        read(tmp_path, bytes(2 * 10**6))
    assert monotonic() - began < 10.0


def test_damaged_files_are_refused_or_plain(tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "library.pkl"
    dump_joblib({"walk": {"x": np.arange(12.0).reshape(4, 3)}}, path)
    for data in (path.read_bytes(), pickle.dumps(sample(), 2), pickle.dumps(sample(), 5)):
        for _ in range(150):
            changed = bytearray(data[: rng.integers(1, len(data) + 1)])
            for place in rng.integers(0, len(changed), rng.integers(0, 4)):
                changed[place] = rng.integers(0, 256)
            with suppress(REFUSED):
                read(tmp_path, bytes(changed))


def test_the_reader_knows_no_opcode_that_calls_by_itself():
    """Opcodes that Python's own reader calls objects with are all refused but for the table of array functions."""
    from humanoid_dynamics.series import plain_pickle

    known = set(plain_pickle._STEPS) | plain_pickle._VALUES | set(plain_pickle._CONSTANTS)
    names = {opcode.name for opcode in pickletools.opcodes}
    assert known <= names
    assert not known & {"INST", "OBJ", "NEWOBJ_EX", "PERSID", "BINPERSID", "EXT1", "EXT2", "EXT4"}


def test_a_text_that_is_encoded_many_times_takes_no_more_memory_than_the_file(tmp_path):
    text = b"a" * 100_000
    head = b"\x80\x02c_codecs\nencode\nq\x00X" + struct.pack("<I", len(text)) + text
    head += b"q\x01X\x06\x00\x00\x00latin1q\x02("
    once = b"h\x00h\x01h\x02\x86R"
    assert read(tmp_path, head + once + b"l.") == [text]
    with pytest.raises(ReadLimitError, match="all bytes together"):
        read(tmp_path, head + 1000 * once + b"l.")


def test_a_long_name_does_not_fill_the_message(tmp_path):
    for data in (b"c%b\nx\n)R.", b"cnumpy\ndtype\n(V%b\ntR."):
        with pytest.raises(PlainPickleError) as refused:
            read(tmp_path, b"\x80\x02" + data % (b"o" * 100_000))
        assert len(str(refused.value)) < 300
