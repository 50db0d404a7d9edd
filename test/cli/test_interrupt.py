"""Ctrl-C is heard even where Python loses the exception."""

import os
import signal

import pytest

from humanoid_dynamics.cli.interrupt import hear_interrupt


def test_an_interrupt_that_was_swallowed_is_found_by_the_next_look():
    before = signal.getsignal(signal.SIGINT)
    with hear_interrupt() as look:
        look()
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            swallowed = True
        assert swallowed
        with pytest.raises(KeyboardInterrupt):
            look()
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_ends_what_runs():
    with pytest.raises(KeyboardInterrupt), hear_interrupt():
        os.kill(os.getpid(), signal.SIGINT)
