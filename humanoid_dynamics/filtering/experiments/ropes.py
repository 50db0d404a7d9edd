# SPDX-License-Identifier: Apache-2.0
"""A figure that pulls itself up on two ropes: closed chains, and a change of structure while the filter runs [DF, sec. 3.2, fig. 3]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.optimize import brentq

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.filtering.experiments.run import PaperRun, run_paper_filter
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.motion.resampling import align_signs
from humanoid_dynamics.papers.dynamics_filter.filter import PaperFilter
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.structure.joining import connect_points, join

SIDES = ("left", "right")
HANGING = {"shoulder_pitch": -2.7, "elbow": -0.5}
PULLED = {"shoulder_pitch": -2.4, "elbow": -1.1}
ROLL = 0.2
START = (0.1, 0.0, 1.0)  # m
PULL_FROM, PULL_FOR = 0.3, 1.2  # s
CLOSED = 1e-10


@dataclass(frozen=True, eq=False)
class RopeFigure:
    """A figure and two ropes as one robot, with what its hands hold.

    Attributes:
        robot: The robot.
        hands: Rows of the left and of the right hand on its rope.
        clip: Hanging, then pulling up.
    """

    robot: RobotModel
    hands: tuple[ConstraintBlock, ...]
    clip: Clip


def build_rope_figure(dt: float, seconds: float = 2.0) -> RopeFigure:
    """Hang the figure of 28 hinges on the ropes and let it pull itself up.

    Args:
        dt: Step [s].
        seconds: How long.

    Returns:
        The figure with its motion.
    """
    robot = join([load_robot("human28"), load_robot("ropes")], ["figure", "ropes"])
    loops = [
        connect_points(
            robot, f"{side}_hand", "spherical", f"figure/{side}_hand", f"ropes/{side}_end"
        )
        for side in SIDES
    ]
    hands = tuple(build_loop(robot, loop) for loop in loops)
    mechanism = Mechanism(robot, hands)
    names = [f"figure/{side}_{joint}" for side in SIDES for joint in (*HANGING, "shoulder_roll")]
    times = np.arange(round(seconds / dt) + 1, dtype=np.float64) * dt
    q = np.empty((len(times), robot.nq))
    last = np.array(robot.posture)
    last[:3] = START
    for row, share in enumerate(quintic((times - PULL_FROM) / PULL_FOR)):
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            for joint, value in HANGING.items():
                last[robot.joint(f"figure/{side}_{joint}").q] = value + share * (
                    PULLED[joint] - value
                )
            last[robot.joint(f"figure/{side}_shoulder_roll").q] = sign * ROLL
        _hang(robot, last)
        last = np.array(close_position(mechanism, last, held=names, tolerance=CLOSED).q)
        q[row] = last
    return RopeFigure(
        robot,
        hands,
        differentiate(Clip(robot, times, align_signs(robot, q), origin="pull-up on ropes")),
    )


def _hang(robot: RobotModel, q: Vector) -> None:
    """Put the figure where it hangs still: hands at the ends of the ropes, the centre of mass below them."""
    model, data = robot.model, robot.data()
    points = robot.control_points
    for joint in robot.joints:
        if joint.name.startswith("ropes/"):
            q[joint.q] = robot.posture[joint.q]

    def place(pitch: float) -> float:
        R = pin.utils.rotate("y", pitch)
        q[3:7] = pin.Quaternion(R).coeffs()
        pin.framesForwardKinematics(model, data, q)
        ends = np.mean(
            [data.oMf[points[f"ropes/{side}_end"].frame].translation for side in SIDES], axis=0
        )
        hands = np.mean(
            [data.oMf[points[f"figure/{side}_hand"].frame].translation for side in SIDES], axis=0
        )
        q[:3] += ends - hands
        figure = pin.centerOfMass(model, data, q)
        return float(figure[0] - ends[0])

    place(brentq(place, -1.0, 1.0, xtol=1e-12))


def run_rope_figure(
    figure: RopeFigure, style: PaperStyle | None = None, let_go: float | None = None
) -> PaperRun:
    """Filter the pull-up, and let go of one rope on the way.

    Args:
        figure: The figure.
        style: How the filter is run.
        let_go: When the right hand lets go [s]; never where None.

    Returns:
        What came of it.
    """
    style = style or PaperStyle()

    def change(tool: PaperFilter, row: int) -> None:
        if row == 0:
            for hand in figure.hands:
                tool.connect(hand)
        if let_go is not None and row == round(let_go / style.dt):
            tool.cut(figure.hands[1].name)

    return run_paper_filter(figure.robot, figure.clip, style, surfaces=(), between=change)
