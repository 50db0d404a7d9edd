# SPDX-License-Identifier: Apache-2.0
"""A structure changes while it moves: a hanging chain is caught at its end, then let go.

By hand: catching can only take energy, cutting takes none, and no model is built again.
"""

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd
from humanoid_dynamics.constraints import ConstraintSet
from humanoid_dynamics.dynamics import Mechanism, apply_events
from humanoid_dynamics.model import LoopClosure
from humanoid_dynamics.structure import Connect, Cut


def kinetic_energy(robot: hd.RobotModel, state: hd.State) -> float:
    """Return the kinetic energy [J]."""
    return float(pin.computeKineticEnergy(robot.model, robot.data(), state.q, state.v))


def main() -> float:
    """Return the energy that catching took [J]."""
    robot = hd.load_robot("ropes")
    mechanism = Mechanism(robot, ConstraintSet.of(robot))
    state = hd.State(robot.posture, np.random.default_rng(1).normal(size=robot.nv))
    before = kinetic_energy(robot, state)
    end = robot.links[-1]
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, state.q)
    catch = LoopClosure(
        "catch", "spherical", "world", data.oMf[robot.link_frame(end)], end, pin.SE3.Identity()
    )
    caught = apply_events(mechanism, state, [Connect(catch)])
    after = kinetic_energy(robot, caught.state)
    freed = apply_events(caught.mechanism, caught.state, [Cut("catch")])
    print(
        f"moving {before:.3f} J, caught {after:.3f} J, cut {kinetic_energy(robot, freed.state):.3f} J"
    )
    return before - after


if __name__ == "__main__":
    print(f"catching took {main():.3f} J")
