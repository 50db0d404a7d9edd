# SPDX-License-Identifier: Apache-2.0
"""Random trees with every kind of joint, for laws that hold on all of them."""

from dataclasses import replace

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd
from humanoid_dynamics.model.joint import Joint

DOT = '<robot name="dot"><link name="world"/></robot>'


def composite(rng):
    joint = pin.JointModelComposite()
    joint.addJoint(pin.JointModelRX(), pin.SE3.Random())
    joint.addJoint(pin.JointModelPZ(), pin.SE3.Random())
    joint.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    joint.addJoint(pin.JointModelRevoluteUnaligned(unit(rng)), pin.SE3.Random())
    return joint


def unit(rng):
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


KINDS = {
    "free_flyer": lambda rng: pin.JointModelFreeFlyer(),
    "revolute": lambda rng: pin.JointModelRevoluteUnaligned(unit(rng)),
    "prismatic": lambda rng: pin.JointModelPrismaticUnaligned(unit(rng)),
    "continuous": lambda rng: pin.JointModelRUBY(),
    "spherical": lambda rng: pin.JointModelSpherical(),
    "spherical_zyx": lambda rng: pin.JointModelSphericalZYX(),
    "planar": lambda rng: pin.JointModelPlanar(),
    "translation": lambda rng: pin.JointModelTranslation(),
    "universal": lambda rng: pin.JointModelUniversal(
        np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.6, 0.8])
    ),
    "composite": composite,
}


def build_robot(model, kinds=()):
    """Return a robot around a pinocchio model; what a URDF would say of it is left empty."""
    kinds = kinds or ("revolute",) * (model.njoints - 1)
    joints = tuple(
        Joint(
            name=str(model.names[i]),
            kind=kinds[i - 1],
            parent=f"link_{int(model.parents[i])}",
            child=f"link_{i}",
            index=i,
            q=slice(int(model.idx_qs[i]), int(model.idx_qs[i] + model.nqs[i])),
            v=slice(int(model.idx_vs[i]), int(model.idx_vs[i] + model.nvs[i])),
            coordinates=tuple(f"{model.names[i]}.{k}" for k in range(int(model.nvs[i]))),
            actuated=True,
        )
        for i in range(1, model.njoints)
    )
    for i in range(1, model.njoints):
        model.addFrame(pin.Frame(f"link_{i}", i, 0, pin.SE3.Identity(), pin.FrameType.BODY), False)
    return replace(
        hd.load_robot(DOT),
        name="random",
        model=model,
        joints=joints,
        links=tuple(joint.child for joint in joints),
        friction=np.zeros(model.nv),
        damping=np.zeros(model.nv),
        actuated_v=np.arange(model.nv),
    )


def random_tree(seed, size=8, kinds=None, base=None):
    """Return a robot of some random joints, depth-first, each link with a random inertia."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    names = list(kinds or KINDS)
    chosen = [base or str(rng.choice(names)), *(str(rng.choice(names)) for _ in range(size - 1))]
    model = pin.Model()
    stack = [0]
    for i, kind in enumerate(chosen):
        while i and len(stack) > 2 and rng.random() < 0.35:
            stack.pop()
        index = model.addJoint(stack[-1], KINDS[kind](rng), pin.SE3.Random(), f"joint_{i + 1}")
        model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Random())
        stack.append(index)
    model.armature = rng.uniform(0.0, 0.5, size=model.nv)
    return build_robot(model, tuple(chosen))


def random_motion(model, seed):
    """Return a random configuration, velocity and acceleration."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)
