# SPDX-License-Identifier: Apache-2.0
"""Small URDFs, written by hand, that tests bend and break."""

import os
import sys
import time
from contextlib import contextmanager

from machine import slowness

from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.reading.description_file import read_description

MASS = '<inertial><mass value="{mass}"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>'
LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
BUSY = 5.0  # times longer than alone that other work may make a second last


def link(name, inside=None, mass=1.0):
    return f'<link name="{name}">{MASS.format(mass=mass) if inside is None else inside}</link>'


def joint(name, parent, child, kind="revolute", inside=LIMIT, axis="0 0 1", origin="0.1 0.2 0.3"):
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{origin}"/><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{inside}</joint>'
    )


def robot(*parts, name="small"):
    return f'<robot name="{name}">\n' + "\n".join(parts) + "\n</robot>\n"


def two_links(inside=LIMIT, **changes):
    return robot(link("base"), link("arm"), joint("elbow", "base", "arm", inside=inside, **changes))


def chain(count, kind="revolute", mass=1.0):
    links = [link(f"l{i}", mass=mass) for i in range(count + 1)]
    return robot(*links, *(joint(f"j{i}", f"l{i}", f"l{i + 1}", kind) for i in range(count)))


def described(**content) -> Description:
    return read_description(content, "test.yaml")


@contextmanager
def quick(seconds=1.0):
    """Nothing at all, if it takes less than a second; on a busy machine, a second of work; on a slow one as much more as it is slow."""
    start, idle = time.perf_counter(), sum(os.times()[:4])
    yield
    took, worked = time.perf_counter() - start, sum(os.times()[:4]) - idle
    if took >= seconds:
        seconds *= slowness()
    assert took < seconds or (worked < seconds and took < BUSY * seconds), (
        f"took {took:.2f} s, {worked:.2f} s of it at work"
    )


@contextmanager
def nothing_happens(but=()):
    """No file is opened for writing, nothing started and nothing fetched while this runs."""
    seen = []

    def watch(event, arguments):
        if (
            watching
            and event not in but
            and event.startswith(
                ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "urllib.")
            )
        ):
            seen.append(event)
        if (
            watching
            and event == "open"
            and not isinstance(arguments[0], int)
            and isinstance(arguments[1], str)
            and set(arguments[1]) & set("wax+")
        ):
            seen.append(f"write {arguments[0]}")

    watching = True
    sys.addaudithook(watch)
    yield
    watching = False
    assert not seen
