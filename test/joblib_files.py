# SPDX-License-Identifier: Apache-2.0
"""Files as joblib writes them, for tests: joblib itself is not needed."""

import pickle
import sys
import types
from contextlib import contextmanager

import numpy as np


class NumpyArrayWrapper:
    """What joblib writes before the data of an array."""

    def __init__(self, array, alignment):
        self.subclass, self.shape, self.dtype = type(array), array.shape, array.dtype
        self.order, self.allow_mmap = "C", True
        if alignment:
            self.numpy_array_alignment_bytes = 16


class JoblibPickler(pickle._Pickler):
    """Writes arrays as joblib does: the wrapper, a byte with the length of the padding, the padding, the data."""

    def __init__(self, file, protocol, alignment=True):
        super().__init__(file, protocol)
        self.out, self.alignment = file, alignment

    def save(self, obj, save_persistent_id=True):
        if type(obj) is not np.ndarray:
            return super().save(obj)
        super().save(NumpyArrayWrapper(obj, self.alignment))
        if self.proto >= 4:
            self.framer.commit_frame(force=True)
        if self.alignment:
            padding = 16 - (self.out.tell() + 1) % 16
            self.out.write(bytes([padding]) + b"\xff" * padding)
        self.out.write(np.ascontiguousarray(obj).tobytes())
        return None


@contextmanager
def joblib_names():
    """Let the pickler find the class below the name that joblib has for it."""
    names = ("joblib", "joblib.numpy_pickle")
    before = {name: sys.modules.get(name) for name in names}
    sys.modules.update({name: types.ModuleType(name) for name in names})
    sys.modules["joblib.numpy_pickle"].NumpyArrayWrapper = NumpyArrayWrapper
    NumpyArrayWrapper.__module__ = "joblib.numpy_pickle"
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def dump_joblib(content, path, protocol=4, *, alignment=True):
    """Write an object as ``joblib.dump`` does."""
    with path.open("wb") as file, joblib_names():
        JoblibPickler(file, protocol, alignment).dump(content)
    return path
