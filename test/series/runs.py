# SPDX-License-Identifier: Apache-2.0
"""Short runs and made-up records to write and read."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.series.layout import BodyPlace, JointPlace, Layout, Patch
from humanoid_dynamics.series.record import Record, Table
from humanoid_dynamics.simulation.recorder import Recorder, describe_run
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene

HARD = np.array([0.0, -0.0, 5e-324, -5e-324, 1e308, np.pi, 1.0 / 3.0, np.nextafter(1.0, 2.0)])


def run(name, seconds=0.03, every=1):
    """Run a scene; return scene, world and recorder."""
    scene = load_scene(name)
    world = build_world(scene)
    recorder = Recorder(world, every, about=describe_run(scene))
    run_scene(scene, world, seconds)
    return scene, world, recorder


def made_up(n=20, seed=1, joints=3):
    """A body that flies and has joints, with numbers that are hard to write down."""
    rng = np.random.default_rng(seed)
    names = [f"joint_{k}" for k in range(joints)]
    columns = {
        "q": (*(f"base_{part}" for part in ("x", "y", "z", "qx", "qy", "qz", "qw")), *names),
        "v": (*(f"base_{part}" for part in ("vx", "vy", "vz", "wx", "wy", "wz")), *names),
        "tau": tuple(names[1:]),
        "wrench": tuple(f"left_foot.{axis}" for axis in ("fx", "fy", "fz", "mx", "my", "mz")),
        "energy": ("kinetic", "potential", "missing"),
        "audit": ("depth",),
        "balance": ("force_x", "force_y", "force_z"),
    }
    layout = Layout(
        columns,
        tuple(JointPlace(name, 7 + k, 6 + k, k - 1) for k, name in enumerate(names)),
        (BodyPlace("pelvis", 0, 0),),
        (
            Patch(
                "left_foot",
                "l_sole",
                np.array([[0.1, 0.05], [-0.1, 0.05], [-0.1, -0.05], [0.1, -0.05]]),
            ),
        ),
    )
    tables = {}
    for name, entries in columns.items():
        values = rng.standard_normal((n, len(entries))) * 10.0 ** rng.integers(
            -12, 12, (n, len(entries))
        )
        values.flat[: len(HARD)] = HARD[: values.size]
        tables[name] = Table(entries, values)
    return Record(
        {"scene": "made up", "title": "no title"},
        np.cumsum(rng.uniform(1e-3, 2e-3, n)),
        tables,
        {0: layout},
    )


def assert_same(one, other):
    """Two records are the same, bit by bit."""
    assert one.t.tobytes() == other.t.tobytes()
    assert dict(one.about) == dict(other.about)
    assert list(one.tables) == list(other.tables)
    for name, table in one.tables.items():
        assert table.columns == other.tables[name].columns
        assert table.values.tobytes() == other.tables[name].values.tobytes(), name
    assert {row: layout.dump() for row, layout in one.layouts.items()} == {
        row: layout.dump() for row, layout in other.layouts.items()
    }
