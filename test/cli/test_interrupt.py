# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a command also while code outside Python runs, such as a compiler; what ends by itself in time is left alone."""

import signal
import subprocess
import sys
import threading
from time import monotonic

import pytest

PATIENCE = 60.0  # s
BUSY = """
import ctypes, sys, threading
from humanoid_dynamics.cli.interrupt import end_after_interrupt
end_after_interrupt()
print("begun", flush=True)
"""
DEAF = """
mutex = ctypes.create_string_buffer(64)
for _ in range(2):
    ctypes.CDLL(None).pthread_mutex_lock(mutex)
"""
ORDERLY = """
try:
    threading.Event().wait(60.0)
except KeyboardInterrupt:
    print("ended in order", flush=True)
    sys.exit(3)
"""


@pytest.mark.parametrize(
    ("work", "code", "said"), [(DEAF, 130, ""), (ORDERLY, 3, "ended in order\n")]
)
def test_interrupt(work, code, said):
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY + work], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "begun\n"
        threading.Event().wait(0.3)
        process.send_signal(signal.SIGINT)
        begin = monotonic()
        assert process.wait(PATIENCE) == code
        assert monotonic() - begin < 3.0
        assert process.stdout.read() == said
    finally:
        process.kill()
        process.communicate()
