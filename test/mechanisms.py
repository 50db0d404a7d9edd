# SPDX-License-Identifier: Apache-2.0
"""Mechanisms for tests, built joint by joint: the figures F1 to F7 of closed form, and random trees."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.joint import Joint, Limits
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel

KINDS = {
    "JointModelFreeFlyer": "free_flyer",
    "JointModelPlanar": "planar",
    "JointModelSpherical": "spherical",
    "JointModelUniversal": "universal",
}
GRAVITY_Y = np.array([0.0, -9.81, 0.0])


def translation(x=0.0, y=0.0, z=0.0):
    return pin.SE3(np.eye(3), np.array([x, y, z], dtype=float))


def rod(length, mass, axis=0):
    """Uniform thin rod from the joint along an axis; a whiff of inertia about itself."""
    com = np.zeros(3)
    com[axis] = length / 2
    moments = np.full(3, mass * length**2 / 12)
    moments[axis] = 1e-9
    return pin.Inertia(mass, com, np.diag(moments))


class Tree:
    """Joints in any order; the model is built depth-first."""

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        self.gravity = np.array(gravity)
        self.entries = []

    def add(self, name, joint, *, parent="world", X=None, inertia=None):
        self.entries.append(
            (
                name,
                parent,
                joint,
                pin.SE3.Identity() if X is None else X,
                inertia or pin.Inertia.Zero(),
            )
        )
        return self

    def model(self):
        model = pin.Model()
        model.gravity.linear = self.gravity
        identifiers = {"world": 0}

        def grow(parent):
            for name, above, joint, X, inertia in self.entries:
                if above != parent:
                    continue
                identifiers[name] = model.addJoint(identifiers[parent], joint, X, name)
                model.appendBodyToJoint(identifiers[name], inertia, pin.SE3.Identity())
                model.addBodyFrame(name, identifiers[name], pin.SE3.Identity(), 0)
                grow(name)

        grow("world")
        return model

    def robot(self, loops=(), *, actuated=None, posture=None, surfaces=None):
        return robot_of(self.model(), loops, actuated=actuated, posture=posture, surfaces=surfaces)


def kind_of(joint):
    name = joint.shortname()
    if name in KINDS:
        return KINDS[name]
    if name.startswith("JointModelRUB") or "Unbounded" in name:
        return "continuous"
    return "prismatic" if name.startswith("JointModelP") else "revolute"


def robot_of(model, loops=(), *, actuated=None, posture=None, surfaces=None):
    """Wrap a pinocchio model whose every joint carries one link of the same name."""
    joints = []
    for index in range(1, model.njoints):
        joint, name = model.joints[index], model.names[index]
        parent = model.names[model.parents[index]] if model.parents[index] else "world"
        names = (name,) if joint.nv == 1 else tuple(f"{name}.{k}" for k in range(joint.nv))
        drive = (
            kind_of(joint) not in {"free_flyer", "planar"} if actuated is None else name in actuated
        )
        q, v = (
            slice(joint.idx_q, joint.idx_q + joint.nq),
            slice(joint.idx_v, joint.idx_v + joint.nv),
        )
        joints.append(Joint(name, kind_of(joint), parent, name, index, q, v, names, drive))
        if not model.existFrame(name, pin.FrameType.BODY):
            model.addBodyFrame(name, index, pin.SE3.Identity(), 0)
    driven = [
        (name, joint.v.start + k)
        for joint in joints
        if joint.actuated
        for k, name in enumerate(joint.coordinates)
    ]
    infinite_q, infinite_v = np.full(model.nq, np.inf), np.full(model.nv, np.inf)
    return RobotModel(
        name="mechanism",
        origin="test",
        urdf="",
        root="free_flyer" if joints and joints[0].kind == "free_flyer" else "fixed",
        model=model,
        joints=tuple(joints),
        links=tuple(joint.child for joint in joints),
        actuated=tuple(name for name, _ in driven),
        actuated_v=np.array([index for _, index in driven], dtype=np.intp),
        limits=Limits(-infinite_q, infinite_q, infinite_v, infinite_v),
        friction=np.zeros(model.nv),
        damping=np.zeros(model.nv),
        surfaces=surfaces or {},
        control_points={},
        loops=tuple(loops),
        wheels=(),
        mimics=(),
        aliases={},
        posture=pin.neutral(model) if posture is None else np.asarray(posture, dtype=float),
        stance=(),
        inertialess=(),
        notices=(),
    )


def random_inertia(rng):
    return pin.Inertia(
        rng.uniform(0.3, 3.0), rng.uniform(-0.1, 0.1, 3), np.diag(rng.uniform(0.05, 0.2, 3))
    )


def random_pose(rng, reach=0.5):
    return pin.SE3(pin.exp3(rng.normal(size=3)), rng.uniform(-reach, reach, 3))


def random_joint(rng, base=False):
    axis = rng.normal(size=3)
    choices = [
        lambda: pin.JointModelRX(),
        lambda: pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis)),
        lambda: pin.JointModelPZ(),
        lambda: pin.JointModelSpherical(),
        lambda: pin.JointModelRUBZ(),
        lambda: pin.JointModelPlanar(),
        lambda: pin.JointModelFreeFlyer(),
    ]
    weights = np.array([3, 3, 1, 2, 1, 0.5, 3 if base else 0.3])
    return choices[rng.choice(len(choices), p=weights / weights.sum())]()


def random_tree(rng, count=None):
    """Up to twelve joints of all kinds, branching at random, every link heavy."""
    tree = Tree()
    names = ["world"]
    for index in range(count or int(rng.integers(1, 13))):
        joint = random_joint(rng, base=index == 0)
        parent = names[int(rng.integers(max(0, len(names) - 4), len(names)))]
        tree.add(
            f"link{index}", joint, parent=parent, X=random_pose(rng), inertia=random_inertia(rng)
        )
        names.append(f"link{index}")
    return tree.robot()


def random_configuration(model, rng):
    return pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))


FREEDOMS = {
    "fixed": (),
    "revolute": (5,),
    "prismatic": (2,),
    "universal": (3, 4),
    "spherical": (3, 4, 5),
    "planar": (0, 1, 5),
}


def random_loop(robot, q, rng, kind, name="loop", links=None):
    """A closure of some kind that holds exactly at q, with its cut joint somewhere in the middle of its travel."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    pool = [*robot.links, "world"]
    link_a, link_b = links or rng.choice(pool, size=2, replace=False)
    X_LA = random_pose(rng)
    X_WA = _pose(robot, data, link_a) * X_LA
    X_AB = pin.SE3.Identity()
    for axis in FREEDOMS[kind]:
        move = np.zeros(6)
        move[axis] = rng.uniform(-0.8, 0.8)
        X_AB = X_AB * pin.exp6(move)
    if kind == "universal":
        X_AB = pin.SE3(
            pin.exp3(np.array([rng.uniform(-1, 1), 0, 0]))
            @ pin.exp3(np.array([0, rng.uniform(-1, 1), 0])),
            np.zeros(3),
        )
    return LoopClosure(
        name, kind, link_a, X_LA, link_b, _pose(robot, data, link_b).actInv(X_WA * X_AB)
    )


def _pose(robot, data, link):
    return pin.SE3.Identity() if link == "world" else data.oMf[robot.link_frame(link)]
