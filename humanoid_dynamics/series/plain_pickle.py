# SPDX-License-Identifier: Apache-2.0
"""Read pickle files that contain only arrays and plain containers, without executing anything.

The reader interprets the opcodes of a pickle itself.  It imports no module and calls no object that the file names: a global is a name to it, and
the names in ``_CALLS`` stand for functions of this module that build numpy arrays, dtypes and bytes.  Every other global, persistent identifier
or extension is refused.  Sizes are limited by the size of the file, which ``find_limit`` bounds, also for compressed joblib files.
Arrays of joblib, whose data follow the object in the same file, are read likewise.
"""

from __future__ import annotations

import bz2
import io
import lzma
import math
import pickle
import pickletools
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.series.bounded_reading import ReadLimitError, check_size, find_limit, inflate

MOST_OPCODES = 5_000_000
DEEPEST = 100  # lists, tuples and dictionaries inside one another
MOST_DIMENSIONS = 8
SHOWN = 100  # characters of a name in a message
DTYPE = re.compile(r"[|<>=]?(b1|[iu][1248]|f[248]|U\d{1,4}|S\d{1,4})")
COMPRESSIONS: tuple[tuple[bytes, Callable[[], Any]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(31)),
    (b"x\x01", zlib.decompressobj),
    (b"x\x5e", zlib.decompressobj),
    (b"x\x9c", zlib.decompressobj),
    (b"x\xda", zlib.decompressobj),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ", lzma.LZMADecompressor),
    (b"]\x00\x00", lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE)),
)


class PlainPickleError(ValueError):
    """A pickle that is damaged, or contains more than arrays and plain containers."""


def load_plain_pickle(path: Path) -> Any:
    """Read a pickle or a joblib file of arrays and plain containers.

    Args:
        path: The file.

    Returns:
        Its object: dictionaries, lists, tuples, text, numbers and numpy arrays.

    Raises:
        PlainPickleError: If the file is no pickle, is damaged, or names any other object.
        ReadLimitError: If it is larger, deeper or longer than allowed.
        OSError: If the file cannot be read.
    """
    size = path.stat().st_size
    limit = find_limit(0)
    check_size("the file", size, limit)
    data = path.read_bytes()
    try:
        for magic, make in COMPRESSIONS:
            if data.startswith(magic):
                data = inflate(make, data, "the unpacked file", limit)
                break
        return _Machine(data).run()
    except (PlainPickleError, ReadLimitError):
        raise
    except (zlib.error, lzma.LZMAError, EOFError, OSError) as cause:
        raise PlainPickleError(f"cannot be unpacked: {cause}") from cause
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError) as cause:
        raise PlainPickleError(f"is no pickle, or a damaged one ({cause})") from cause


def dump_plain_pickle(content: Any, path: Path) -> None:
    """Write arrays and plain containers as a pickle that old and new versions of numpy read.

    Args:
        content: Dictionaries, lists, text, numbers and arrays.
        path: The file.
    """
    data = pickle.dumps(content, protocol=3)
    path.write_bytes(data.replace(b"cnumpy._core.", b"cnumpy.core."))


def is_pickle(head: bytes) -> bool:
    """Return whether a file begins like a pickle of protocol 2 or later, or like a compressed one.

    Args:
        head: First bytes of the file.
    """
    if head[:1] == b"\x80" and len(head) > 1 and head[1] in range(2, 6):
        return True
    return any(head.startswith(magic) for magic, _ in COMPRESSIONS)


class _Global:
    """Name of an object, never resolved."""

    def __init__(self, module: str, name: str) -> None:
        self.name = f"{module}.{name}"


class _Shell:
    """Array or dtype between its creation and its state."""

    def __init__(self, kind: str, spec: str = "") -> None:
        self.kind, self.spec = kind, spec
        self.value: Any = None


class _Machine:
    """Stack machine of the pickle protocol, restricted to plain data."""

    def __init__(self, data: bytes) -> None:
        self._stream, self._size = io.BytesIO(data), len(data)
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self._array_bytes = self._encoded_bytes = 0

    def run(self) -> Any:
        """Interpret all opcodes and return the object."""
        for count, (opcode, argument, _) in enumerate(pickletools.genops(self._stream)):
            if count > MOST_OPCODES:
                raise ReadLimitError(f"has more than {MOST_OPCODES} opcodes")
            name = opcode.name
            if name == "STOP":
                return _finish(self.stack[-1], 0)
            if name in _CONSTANTS:
                self.stack.append(_CONSTANTS[name])
            elif name in _VALUES:
                self.stack.append(argument)
            else:
                step = _STEPS.get(name)
                if step is None:
                    problem = f"uses the opcode {name}, which plain data does not need"
                    raise PlainPickleError(problem)
                step(self, argument)
        raise PlainPickleError("ends before its object")

    def pop_mark(self) -> list[Any]:
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def put(self, index: int) -> None:
        self.memo[index] = self.stack[-1]

    def get(self, index: int) -> None:
        self.stack.append(self.memo[index])

    def short_tuple(self, length: int) -> None:
        items = tuple(self.stack[len(self.stack) - length :])
        if len(items) != length:
            raise PlainPickleError("has a tuple without its items")
        del self.stack[len(self.stack) - length :]
        self.stack.append(items)

    def take_dict(self, _: Any) -> None:
        items = self.pop_mark()
        self.stack.append({})
        self._set(items)

    def append(self, _: Any) -> None:
        item = self.stack.pop()
        _check(self.stack[-1], list).append(item)

    def appends(self, _: Any) -> None:
        items = self.pop_mark()
        _check(self.stack[-1], list).extend(items)

    def set_item(self, _: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set([key, value])

    def set_items(self, _: Any) -> None:
        self._set(self.pop_mark())

    def _set(self, items: list[Any]) -> None:
        target = _check(self.stack[-1], dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int | float | bytes):  # a nested tuple may take for ever
                raise PlainPickleError(f"has a key of type {type(key).__name__}, expected text")
            target[key] = value

    def push_global(self, names: str) -> None:
        module, _, name = names.partition(" ")
        self.stack.append(_Global(module, name))

    def stack_global(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(_Global(_check(module, str), _check(name, str)))

    def reduce(self, _: Any) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        self.stack.append(self._call(function, _check(arguments, tuple)))

    def new_object(self, _: Any) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, _Global) or function.name != _JOBLIB_ARRAY or arguments:
            _refuse(function)
        self.stack.append(_Shell("joblib"))

    def build(self, _: Any) -> None:
        state = self.stack.pop()
        shell = _check(self.stack[-1], _Shell)
        if shell.kind == "dtype":
            shell.spec = _set_byte_order(shell.spec, state)
        elif shell.kind == "array":
            self._fill(shell, state)
        else:
            self._read_joblib(shell, _check(state, dict))

    def _call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        name = function.name if isinstance(function, _Global) else ""
        made = _CALLS.get(name)
        if made is None:
            _refuse(function)
        return made(self, arguments)

    def make_dtype(self, arguments: tuple[Any, ...]) -> _Shell:
        spec = _check(arguments[0], str)
        if not DTYPE.fullmatch(spec):
            raise PlainPickleError(f"has an array of {spec[:SHOWN]!r}, expected numbers or text")
        return _Shell("dtype", spec)

    def make_array(self, arguments: tuple[Any, ...]) -> _Shell:
        if not isinstance(arguments[0], _Global) or arguments[0].name != "numpy.ndarray":
            _refuse(arguments[0])
        return _Shell("array")

    def make_scalar(self, arguments: tuple[Any, ...]) -> Any:
        dtype, data = arguments
        return self._array(dtype, (), _check(data, bytes), "C").item()

    def make_from_buffer(self, arguments: tuple[Any, ...]) -> NDArray[np.generic]:
        data, dtype, shape, order = arguments
        return self._array(dtype, shape, bytes(_check(data, (bytes, bytearray))), order)

    def make_bytes(self, arguments: tuple[Any, ...]) -> bytes:
        text, coding = arguments
        if coding not in {"latin1", "latin-1"}:
            raise PlainPickleError(f"has bytes in the coding {coding!s:.{SHOWN}}, expected latin1")
        data = bytes(_check(text, str), "latin-1")
        self._encoded_bytes += len(data)  # a text of the file may be encoded many times
        check_size("all bytes together", self._encoded_bytes, self._size)
        return data

    def make_empty(self, arguments: tuple[Any, ...], kind: type = dict) -> Any:
        if arguments:
            raise PlainPickleError(f"makes {kind.__name__} from other objects")
        return kind()

    def _fill(self, shell: _Shell, state: Any) -> None:
        _, shape, dtype, fortran, data = _check(state, tuple)
        order = "F" if fortran else "C"
        shell.value = self._array(dtype, shape, _check(data, (bytes, bytearray)), order)

    def _read_joblib(self, shell: _Shell, state: dict[Any, Any]) -> None:
        """Read an array whose data follow in the file, after a byte with the length of the padding."""
        if state.get("numpy_array_alignment_bytes") is not None:
            padding = self._stream.read(1)
            self._stream.read(padding[0] if padding else 0)
        dtype, shape = _check(state.get("dtype"), _Shell), state.get("shape")
        size = _count(shape) * _itemsize(dtype)
        check_size("an array", size, self._size - self._stream.tell())
        shell.value = self._array(dtype, shape, self._stream.read(size), state.get("order"))

    def _array(self, dtype: Any, shape: Any, data: bytes, order: Any) -> NDArray[np.generic]:
        count, itemsize = _count(shape), _itemsize(dtype)
        if count * itemsize != len(data):
            problem = f"has an array of shape {shape} and type {dtype.spec} in {len(data)} bytes"
            raise PlainPickleError(problem)
        self._array_bytes += len(data)
        check_size("all arrays together", self._array_bytes, self._size)
        values = np.frombuffer(bytes(data), dtype=dtype.spec)
        return values.reshape(shape, order="F" if order == "F" else "C")


_JOBLIB_ARRAY = "joblib.numpy_pickle.NumpyArrayWrapper"
_CALLS: dict[str, Callable[[_Machine, tuple[Any, ...]], Any]] = {
    "numpy.dtype": _Machine.make_dtype,
    "_codecs.encode": _Machine.make_bytes,
    "__builtin__.bytes": lambda machine, items: machine.make_empty(items, bytes),
    "collections.OrderedDict": _Machine.make_empty,
    **{
        f"numpy.{core}.{name}": make
        for core in ("core", "_core")
        for name, make in (
            ("multiarray._reconstruct", _Machine.make_array),
            ("multiarray.scalar", _Machine.make_scalar),
            ("numeric._frombuffer", _Machine.make_from_buffer),
        )
    },
}
_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_VALUES = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"),
    *("BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_STEPS: dict[str, Callable[[_Machine, Any], object]] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda *_: None),
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "POP": lambda machine, _: machine.stack.pop(),
    "POP_MARK": lambda machine, _: machine.pop_mark(),
    "DUP": lambda machine, _: machine.stack.append(machine.stack[-1]),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    "MEMOIZE": lambda machine, _: machine.put(len(machine.memo)),
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "LIST": lambda machine, _: machine.stack.append(machine.pop_mark()),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.pop_mark())),
    "TUPLE1": lambda machine, _: machine.short_tuple(1),
    "TUPLE2": lambda machine, _: machine.short_tuple(2),
    "TUPLE3": lambda machine, _: machine.short_tuple(3),
    "DICT": _Machine.take_dict,
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    "GLOBAL": _Machine.push_global,
    "STACK_GLOBAL": _Machine.stack_global,
    "REDUCE": _Machine.reduce,
    "NEWOBJ": _Machine.new_object,
    "BUILD": _Machine.build,
}


def _refuse(function: Any) -> NoReturn:
    name = function.name if isinstance(function, _Global) else type(function).__name__
    name = name[:SHOWN]
    if name.startswith("torch."):
        raise PlainPickleError(f"contains torch tensors ({name}); convert them with .numpy() first")
    raise PlainPickleError(
        f"names {name!r}, which is refused and was not executed; a motion has arrays and plain containers only"
    )


def _check(value: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind):
        raise PlainPickleError(f"has {type(value).__name__} where it should have other data")
    return value


def _count(shape: Any) -> int:
    if not isinstance(shape, tuple) or len(shape) > MOST_DIMENSIONS:
        raise PlainPickleError("has an array without a shape")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise PlainPickleError(f"has an array of shape {shape}")
    return math.prod(shape)


def _itemsize(dtype: Any) -> int:
    return int(np.dtype(_check(dtype, _Shell).spec).itemsize)


def _set_byte_order(spec: str, state: Any) -> str:
    order, fields = _check(state, tuple)[1], state[4]
    if order not in {"<", ">", "|", "="} or fields is not None:
        raise PlainPickleError("has an array of records, expected numbers")
    return (order if order in "<>" else "") + spec.lstrip("<>=|")


def _finish(value: Any, depth: int, seen: dict[int, Any] | None = None) -> Any:
    """Return plain data with arrays in place of their shells; each container once, however often it occurs."""
    seen = {} if seen is None else seen
    if depth > DEEPEST:
        raise ReadLimitError(f"containers are more than {DEEPEST} levels deep")
    if isinstance(value, _Shell):
        if value.kind != "dtype" and value.value is not None:
            return value.value
        raise PlainPickleError("has an array without data")
    if isinstance(value, _Global):
        _refuse(value)
    if not isinstance(value, list | tuple | dict):
        return value
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = None  # of a container inside itself
    done: Any = (
        {key: _finish(part, depth + 1, seen) for key, part in value.items()}
        if isinstance(value, dict)
        else type(value)(_finish(part, depth + 1, seen) for part in value)
    )
    seen[id(value)] = done
    return done
