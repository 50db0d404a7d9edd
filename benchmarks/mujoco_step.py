# SPDX-License-Identifier: Apache-2.0
"""One step of MuJoCo with the same robot on the same soles, as a time to read our simulation steps by.

The robot stands on four corners of each sole; every step starts from the same settled state, with all corners in contact.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pinocchio as pin
from lxml import etree

from benchmarks.interleave import Contender
from humanoid_dynamics.errors import MissingExtraError, UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.inverse import inverse_dynamics
from humanoid_dynamics.spatial.arrays import Matrix, Vector

STEP, INVERSE = "mj_step", "mj_inverse"
TIME_STEP = 1e-3  # s
SETTLING = 100  # steps
CORNER_RADIUS = 5e-3  # m
FREQUENCY = 30.0  # rad/s of the joint control that keeps the posture while it settles
SAME_MODEL = 1e-9
STILL = 0.5  # m/s, rad/s; soft contacts go on swinging a little
LEFT_OUT = ("visual", "collision", "transmission", "gazebo", "mujoco")


def build_step(robot: RobotModel) -> Contender:
    """Return a step of MuJoCo, each from the same settled state.

    Args:
        robot: The robot.

    Returns:
        The step.

    Raises:
        UnsupportedRobotError: If MuJoCo reads another robot, or none.
    """
    mujoco, model, data = _prepare(robot)
    start = {
        name: np.array(getattr(data, name))
        for name in ("qpos", "qvel", "qacc_warmstart", "qfrc_applied")
    }

    def restore() -> None:
        for name, values in start.items():
            getattr(data, name)[:] = values

    return Contender(STEP, _bind(mujoco.mj_step, model, data), restore)


def build_inverse(robot: RobotModel) -> Contender:
    """Return the inverse dynamics of MuJoCo in the settled state: contact forces follow from its soft contacts, nothing is chosen.

    Args:
        robot: The robot.

    Returns:
        One call of it.

    Raises:
        UnsupportedRobotError: If MuJoCo reads another robot, or none.
    """
    mujoco, model, data = _prepare(robot)
    return Contender(INVERSE, _bind(mujoco.mj_inverse, model, data))


def _prepare(robot: RobotModel) -> tuple[Any, Any, Any]:
    """Return the module, and the robot at rest on its soles."""
    mujoco = import_mujoco()
    if robot.root != "free_flyer":
        raise UnsupportedRobotError(STEP, [robot.name], "a robot without a free base")
    try:
        model = build_model(mujoco, robot)
    except ValueError as cause:
        raise UnsupportedRobotError(
            STEP, [robot.name], f"MuJoCo refuses it, {' '.join(str(cause).split())}"
        ) from cause
    data = mujoco.MjData(model)
    difference = compare_models(mujoco, model, data, robot)
    if difference > SAME_MODEL:
        raise UnsupportedRobotError(
            STEP,
            [robot.name],
            f"MuJoCo reads another robot, its mass matrix differs by {difference:.3g}",
        )
    _settle(mujoco, model, data, robot)
    if data.ncon != 4 * len(robot.stance) or not np.abs(data.qvel).max() < STILL:
        raise UnsupportedRobotError(
            STEP, [robot.name], "the robot does not come to rest on all corners of its soles"
        )
    return mujoco, model, data


def build_model(mujoco: Any, robot: RobotModel) -> Any:
    """Return the robot as MuJoCo knows it: same links and joints, no damping, no friction, four small balls under each sole.

    Args:
        mujoco: The module.
        robot: A robot with a free base.

    Returns:
        The compiled model.
    """
    spec = mujoco.MjSpec.from_string(bare_urdf(robot.urdf))
    spec.option.timestep = TIME_STEP
    spec.worldbody.first_body().add_freejoint()
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10.0, 10.0, 1.0], contype=1, conaffinity=0
    )
    for name in robot.stance:
        surface = robot.surface(name)
        for corner in place_corners(surface):
            ball = {
                "type": mujoco.mjtGeom.mjGEOM_SPHERE,
                "size": [CORNER_RADIUS, 0.0, 0.0],
                "pos": corner.tolist(),
                "mass": 0.0,
            }
            spec.body(surface.link).add_geom(
                **ball, contype=0, conaffinity=1, friction=[surface.friction, 0.005, 0.0001]
            )
    model = spec.compile()
    for left_out in (
        model.dof_damping,
        model.dof_frictionloss,
        model.dof_armature,
        model.jnt_limited,
    ):
        left_out[:] = 0
    return model


def place_corners(surface: ContactSurface) -> Matrix:
    """Return where the balls are that stand for a sole: in the corners of the rectangle around it, touching its plane.

    Args:
        surface: The sole.

    Returns:
        (4, 3) centres in the frame of its link [m].
    """
    (x_0, y_0), (x_1, y_1) = (
        surface.vertices[:, :2].min(axis=0),
        surface.vertices[:, :2].max(axis=0),
    )
    corners = np.array([[x, y, CORNER_RADIUS] for x in (x_0, x_1) for y in (y_0, y_1)])
    placed: Matrix = corners @ surface.X_LC.rotation.T + surface.X_LC.translation
    return placed


def compare_models(mujoco: Any, model: Any, data: Any, robot: RobotModel) -> float:
    """Return the largest difference of the mass matrices over all joints, and of the masses, at the resting posture.

    Args:
        mujoco: The module.
        model: MuJoCo's model.
        data: Its work space; left at the resting posture.
        robot: The robot.

    Returns:
        The difference [kg, kg·m, kg·m²].
    """
    order = _place(mujoco, model, data, robot)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    joints = order[6:]
    ours = np.array(pin.crba(robot.model, robot.data(), robot.posture))
    ours = np.triu(ours) + np.triu(ours, 1).T
    return float(
        max(np.abs(M[np.ix_(joints, joints)] - ours[6:, 6:]).max(), abs(M[0, 0] - robot.mass))
    )


def bare_urdf(text: str) -> str:
    """Return a URDF without anything that is only seen, and with words for MuJoCo.

    Args:
        text: A URDF.
    """
    root = etree.fromstring(text.encode())
    for tag in LEFT_OUT:
        for element in root.findall(f".//{tag}"):
            element.getparent().remove(element)
    words = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    words.set("fusestatic", "true")
    words.set("balanceinertia", "false")
    words.set("boundmass", "0")
    return str(etree.tostring(root, encoding="unicode"))


def _place(mujoco: Any, model: Any, data: Any, robot: RobotModel) -> Any:
    """Put the robot into its resting posture; return which coordinate of MuJoCo each of ours is."""
    q = robot.posture
    data.qpos[:7] = (*q[:3], q[6], *q[3:6])
    order = list(range(6))
    for joint in robot.joints[1:]:
        number = model.joint(joint.name).id
        data.qpos[model.jnt_qposadr[number]] = q[joint.q.start]
        order.append(int(model.jnt_dofadr[number]))
    mujoco.mj_forward(model, data)
    return np.array(order)


def _settle(mujoco: Any, model: Any, data: Any, robot: RobotModel) -> None:
    """Let the soft contacts take the weight, the joints held by the torques that hold the robot still."""
    order = _place(mujoco, model, data, robot)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    inertia = M[6:, 6:] - M[6:, :6] @ np.linalg.solve(
        M[:6, :6], M[:6, 6:]
    )  # what the joints move, the base being free
    hold: Vector = np.zeros(model.nv)
    hold[order[robot.actuated_v]] = inverse_dynamics(
        robot, State.at_rest(robot), np.zeros(robot.nv)
    ).tau
    start = np.array(data.qpos[7:])
    for _ in range(SETTLING):
        data.qfrc_applied[:] = hold
        data.qfrc_applied[6:] -= inertia @ (
            FREQUENCY**2 * (data.qpos[7:] - start) + 2.0 * FREQUENCY * data.qvel[6:]
        )
        mujoco.mj_step(model, data)


def import_mujoco() -> Any:
    """Return the module, or raise ``MissingExtraError``."""
    try:
        return import_module("mujoco")
    except ImportError as cause:
        raise MissingExtraError("mujoco", "bench", "calls of MuJoCo") from cause


def _bind(function: Callable[..., object], *arguments: Any) -> Callable[[], object]:
    return lambda: function(*arguments)
