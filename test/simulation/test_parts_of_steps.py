# SPDX-License-Identifier: Apache-2.0
"""What a step says of itself is the worst of all its parts, and not what the last one says."""

import numpy as np
import pytest

from humanoid_dynamics.simulation.audit.setting import build_crate, build_state, list_corners
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.rows import CONE, DEPTH, RESIDUAL
from humanoid_dynamics.simulation.world import World

SIZE = (0.3, 0.2, 0.1)


@pytest.mark.parametrize("compiled", [False, None])
def test_depth_and_certificate_are_the_largest_of_all_parts_of_a_step(compiled):
    start = build_state(z=0.4, v=(0.5, 0.2, 0.0, 3.0, 2.0, 1.0))
    world = World(
        build_crate(4.0, SIZE),
        Setup(terrain=(build_plane(),), points=list_corners(SIZE, 0.6), compiled=compiled),
        start,
    )
    recorder, parts = Recorder(world), []
    for moment in ("after_impact", "after_integrate"):
        world.add_hook(
            moment, lambda world: parts.append(world.tables.numbers[[RESIDUAL, CONE, DEPTH]].copy())
        )
    hidden = 0
    for _ in range(1000):
        parts.clear()
        report = world.step(1e-3)
        told, worst = np.array([report.residual, report.cone, report.depth]), np.max(parts, axis=0)
        assert (told >= parts[-1]).all()
        assert (told <= worst).all()
        if report.impacts and len(parts) == 2 * report.impacts + 1:  # taken once
            assert (told == worst).all()
        hidden += told[2] > parts[-1][2]
        audit = recorder.record().tables["audit"]
        assert audit.values[-1][audit.columns.index("depth")] == report.depth
    assert hidden
