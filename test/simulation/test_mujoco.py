# SPDX-License-Identifier: Apache-2.0
"""MuJoCo as an independent program: the same humanoid, the same drive law, the same push.

Its contacts are soft and ours are rigid, so its are made stiff, which asks for steps of a quarter of a millisecond.  As shipped they
give way by a quarter of a millimetre, as much as the ankles do.
"""

import numpy as np
import pytest
from lxml import etree

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import list_surface_points
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.world import World

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

DT, FINE, KP, KD, BALL = 1e-3, 4, 3000.0, 60.0, 5e-3
FEET = ("left_foot", "right_foot")


def build_model(robot):
    """The robot as MuJoCo reads its URDF, with a small ball in each corner of each sole that touches the plane of the sole."""
    root = etree.fromstring(robot.urdf.encode())
    for tag in ("visual", "collision", "transmission", "gazebo", "mujoco"):
        for element in root.findall(f".//{tag}"):
            element.getparent().remove(element)
    etree.SubElement(
        etree.SubElement(root, "mujoco"),
        "compiler",
        balanceinertia="false",
        boundmass="0",
        fusestatic="true",
    )
    spec = mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
    spec.option.timestep = DT / FINE
    spec.option.impratio = 10.0
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.worldbody.first_body().add_freejoint()
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10.0, 10.0, 1.0], contype=1, conaffinity=0
    )
    for name in FEET:
        surface = robot.surface(name)
        for corner in surface.vertices:
            place = surface.X_LC.act(corner + np.array([0.0, 0.0, BALL]))
            spec.body(surface.link).add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[BALL, 0, 0], pos=place.tolist(), mass=0.0, contype=0, conaffinity=1,
                friction=[surface.friction, 0.005, 0.0001], solref=[-1e6, -2e3], solimp=[0.999, 0.999, 1e-4, 0.5, 2.0],
            )  # fmt: skip
    model = spec.compile()
    model.dof_damping[:], model.dof_frictionloss[:], model.jnt_limited[:] = 0.0, 0.0, 0
    model.dof_armature[:] = 0.0
    model.dof_armature[6:] = DT / FINE * KD + (DT / FINE) ** 2 * KP  # the drive, implicit
    return model


def run_mujoco(robot, seconds, push):
    model = build_model(robot)
    data = mujoco.MjData(model)
    q = robot.posture
    data.qpos[:7] = (*q[:3], q[6], *q[3:6])
    for joint in robot.joints[1:]:
        data.qpos[model.jnt_qposadr[model.joint(joint.name).id]] = q[joint.q.start]
    mujoco.mj_forward(model, data)
    hold = np.array(data.qpos[7:])
    torso = model.body("torso").id
    base, load = [], []
    for k in range(round(seconds / DT * FINE)):
        t = k * DT / FINE
        data.qfrc_applied[6:] = (
            KP * (hold - data.qpos[7:] - DT / FINE * data.qvel[6:]) - KD * data.qvel[6:]
        )
        data.xfrc_applied[torso, :3] = push if 0.3 - 1e-9 < t < 0.4 - 1e-9 else 0.0
        mujoco.mj_step(model, data)
        base.append(np.array(data.qpos[:3]))
        load.append(sum_forces(model, data))
    return (
        np.array(base)[FINE - 1 :: FINE],
        np.array(load)[FINE - 1 :: FINE],
        model.body_ipos[torso],
    )


def sum_forces(model, data):
    total, force = np.zeros(3), np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, force)
        total += data.contact[k].frame.reshape(3, 3).T @ force[:3]
    return total


def run_ours(robot, seconds, push, point):
    world = World(
        robot,
        Setup(
            terrain=(build_plane(),),
            points=list_surface_points(robot, FEET),
            drive=build_drive(robot, KP, KD),
            limits=False,
        ),
    )
    base, load = [], []
    for k in range(round(seconds / DT)):
        if k == 300:
            world.push("torso", push, 0.1, point=point)
        assert world.step(DT).status == "OK"
        base.append(world.q[:3].copy())
        load.append(world.point_forces().sum(axis=0))
    return np.array(base), np.array(load)


@pytest.mark.parametrize(
    "push",
    [(0.0, 0.0, 0.0), (60.0, 0.0, 0.0), (0.0, 60.0, 0.0)],
    ids=["standing", "forwards", "sideways"],
)
def test_pushed_humanoid_moves_as_in_mujoco(push):
    robot = hd.load_robot("human28")
    theirs, their_load, point = run_mujoco(robot, 1.0, push)
    ours, our_load = run_ours(robot, 1.0, push, point)
    moved = np.abs(theirs - theirs[299]).max()
    assert np.abs(ours - theirs).max() < 1e-4 + 0.04 * moved
    np.testing.assert_allclose(our_load[-1][2], their_load[-1][2], rtol=0.01)
    pushed = slice(300, 400)
    np.testing.assert_allclose(
        our_load[pushed].mean(axis=0),
        their_load[pushed].mean(axis=0),
        atol=0.005 * robot.mass * 9.81,
    )


def record_torques(robot, steps, push, point):
    """Torques of motors and drives of a figure that stands and is pushed, step by step."""
    world = World(
        robot,
        Setup(
            terrain=(build_plane(),),
            points=list_surface_points(robot, FEET),
            drive=build_drive(robot, KP, KD),
            limits=False,
        ),
    )
    torques = []
    for k in range(steps):
        if k == 100:
            world.push("torso", push, 0.1, point=point)
        assert world.step(DT).status == "OK"
        torques.append(world.drive_torques)
    return np.array(torques)


def replay_ours(robot, torques, push, point):
    world = World(
        robot,
        Setup(terrain=(build_plane(),), points=list_surface_points(robot, FEET), limits=False),
    )
    poses, load = [], []
    for k, tau in enumerate(torques):
        if k == 100:
            world.push("torso", push, 0.1, point=point)
        assert world.step(DT, tau).status == "OK"
        poses.append(np.array([*world.q[:3], *world.q[7:]]))
        load.append(world.point_forces().sum(axis=0))
    return np.array(poses), np.array(load)


def replay_mujoco(robot, torques, push):
    model = build_model(robot)
    model.dof_armature[:] = 0.0
    data = mujoco.MjData(model)
    q = robot.posture
    data.qpos[:7] = (*q[:3], q[6], *q[3:6])
    places, rates = [], []
    for hinge in robot.joints[1:]:
        joint = model.joint(hinge.name).id
        places.append(model.jnt_qposadr[joint])
        rates.append(model.jnt_dofadr[joint])
        data.qpos[places[-1]] = q[hinge.q.start]
    mujoco.mj_forward(model, data)
    torso = model.body("torso").id
    poses, load = [], []
    for k in range(len(torques) * FINE):
        data.qfrc_applied[rates] = torques[k // FINE]
        data.xfrc_applied[torso, :3] = push if 100 * FINE <= k < 200 * FINE else 0.0
        mujoco.mj_step(model, data)
        poses.append(np.array([*data.qpos[:3], *data.qpos[places]]))
        load.append(sum_forces(model, data))
    return np.array(poses)[FINE - 1 :: FINE], np.array(load).reshape(-1, FINE, 3).mean(axis=1)


@pytest.mark.parametrize(
    "push",
    [(0.0, 0.0, 0.0), (60.0, 0.0, 0.0), (0.0, 60.0, 0.0)],
    ids=["standing", "forwards", "sideways"],
)
def test_same_torques_move_a_humanoid_as_in_mujoco(push):
    """No drive corrects anything: a figure under torques alone falls, and any difference grows tenfold in a tenth of a second."""
    robot = hd.load_robot("human28")
    model = build_model(robot)
    point = model.body_ipos[model.body("torso").id]
    torques = record_torques(robot, 250, push, point)
    ours, our_load = replay_ours(robot, torques, push, point)
    theirs, their_load = replay_mujoco(robot, torques, push)
    apart = np.abs(ours - theirs)
    assert apart[:100].max() < 2e-4
    assert apart.max() < 5e-3
    assert apart[:, :3].max() < 3e-4
    assert apart[100:200, :3].max() < 0.05 * max(np.abs(ours - ours[0])[100:200, :3].max(), 2e-3)
    np.testing.assert_allclose(
        our_load[100:].mean(axis=0), their_load[100:].mean(axis=0), atol=0.006 * robot.mass * 9.81
    )
