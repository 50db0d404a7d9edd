# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics by subsystems: outward with velocities, inward with wrenches, then joint by joint [BP, sec. 3.2, eq. 48-60]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from numpy.typing import ArrayLike

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.papers.vdc.decomposition import Decomposition, decompose
from humanoid_dynamics.papers.vdc.joint import JointParameters, compute_joint_torque
from humanoid_dynamics.papers.vdc.motion import FrameFinder, Frames, LinkMotion, compute_link_motion
from humanoid_dynamics.papers.vdc.wrench import (
    compute_cut_wrenches,
    compute_loads,
    compute_net_wrenches,
    shift_contacts,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only
from humanoid_dynamics.spatial.records import Sealed

NO_CONTACTS: Mapping[str, ArrayLike] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class SubsystemAnswer(Sealed):
    """All that passes through a robot at one instant.

    Attributes:
        decomposition: The robot, cut.
        frames: Where its links are.
        motion: How they move.
        net_wrenches: (n, 6) f* of every link, at its origin and in its axes [N, N·m].
        cut_wrenches: (n, 6) f at the driven cutting point of every link, the same axes [N, N·m].
        tau: (nv,) motor torques with friction and gear inertia; rows no motor drives hold what is missing there [N·m or N].
    """

    decomposition: Decomposition
    frames: Frames
    motion: LinkMotion
    net_wrenches: Matrix
    cut_wrenches: Matrix
    tau: Vector

    def cut_wrench(self, link: str) -> Vector:
        """Return the wrench a link is driven with, at its origin and in its axes, (6,) [N, N·m].

        Raises:
            UnknownNameError: If there is no such link.
        """
        return read_only(self.cut_wrenches[self.decomposition.link(link)])


def solve_subsystems(
    robot: RobotModel,
    state: State,
    a: ArrayLike,
    contacts: Mapping[str, ArrayLike] = NO_CONTACTS,
    joint_parameters: JointParameters | None = None,
    *,
    joint_friction: bool = True,
) -> SubsystemAnswer:
    """Compute the wrench at every cutting point and the torque of every motor.

    Args:
        robot: The robot.
        state: Configuration and velocity.
        a: (nv,) acceleration [m/s², rad/s²].
        contacts: Contact surface, control point, link or alias, the first of these that has the name -> (6,) wrench of the environment on
            the robot about the origin of that frame, axes of the world [N, N·m].  ``link:NAME`` is the link or alias, whatever else has
            its name: a foot and its sole often share one.
        joint_parameters: Gear inertia and friction; those of the robot where None.
        joint_friction: Whether the torques overcome the friction of the joints.

    Returns:
        Wrenches and torques.

    Raises:
        ShapeError: If a size is wrong or an entry is not finite.
        UnknownNameError: If a contact is at a frame that does not exist.
    """
    state.check(robot)
    a = check_vector("a", a, robot.nv)
    parameters = JointParameters.of(robot) if joint_parameters is None else joint_parameters
    decomposition = decompose(
        robot, parameters if joint_friction else JointParameters.frictionless(parameters.inertia)
    )
    frames = FrameFinder(decomposition).at(state.q)
    motion = compute_link_motion(decomposition, frames, state.v, a)
    net = compute_net_wrenches(decomposition, frames, motion)
    f = compute_cut_wrenches(
        decomposition, frames, net, shift_contacts(decomposition, frames, contacts)
    )
    loads = compute_loads(decomposition, frames, f)
    tau = compute_joint_torque(decomposition.joint_parameters, state.v, a, loads)
    return SubsystemAnswer(
        decomposition, frames, motion, read_only(net), read_only(f), read_only(tau)
    )
