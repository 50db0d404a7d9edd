# SPDX-License-Identifier: Apache-2.0
"""The reference step and others like it, and a pinocchio chain that is the same biped."""

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.walking.gait_r1 import GaitParameters, GaitR1
from humanoid_dynamics.papers.biped.body import BipedBody, build_body
from humanoid_dynamics.papers.biped.chain import (
    ChainMotion,
    build_com_offsets,
    build_joint_offsets,
    link_masses,
    view_from,
)
from humanoid_dynamics.papers.biped.ground import compute_ground_wrench
from humanoid_dynamics.papers.biped.recursion import build_legs
from humanoid_dynamics.papers.biped.schedule import build_step
from humanoid_dynamics.papers.biped.step import PHASES, find_phase

R1 = GaitR1()
T0, T1, T2 = R1.switches
DOUBLE = {"DSP1": (0.62, 0.68, 0.74), "DSP2": (0.78, 0.84, 0.90)}


@cache
def other_gait(seed):
    """Another step: stature, mass, step length, times, lift and pitches drawn near those of R1."""
    rng = np.random.default_rng(seed)
    body = build_body(rng.uniform(1.5, 1.95), rng.uniform(45.0, 110.0))
    times = np.cumsum(np.array([0.6, 0.16, 0.16, 0.6]) * rng.uniform(0.8, 1.3, size=4))
    return GaitR1(
        GaitParameters(
            body=body,
            times=tuple(times),
            step=0.35 * body.shank / 0.4182 * rng.uniform(0.75, 1.05),
            lift=rng.uniform(0.03, 0.08),
            heel_pitch=np.radians(rng.uniform(2.0, 7.0)),
            toe_pitch=np.radians(rng.uniform(-8.0, -3.0)),
            trunk=np.radians(rng.uniform(82.0, 92.0)),
        )
    )


def chain_at(gait, t, base=None):
    return view_from(gait.at(t), base or find_phase(t, gait.switches).base)


def random_chain(seed):
    rng = np.random.default_rng(seed)
    return ChainMotion(rng.uniform(-np.pi, np.pi, size=6), *rng.normal(size=(2, 6)))


def random_body(seed):
    """A biped no person has: every number its own."""
    rng = np.random.default_rng(seed)
    drawn = {
        name: float(rng.uniform(0.1, 1.0))
        for name in BipedBody.__dataclass_fields__
        if name not in {"com_foot", "gravity"}
    }
    return BipedBody(**drawn, com_foot=(float(rng.normal()), float(rng.normal())), gravity=9.81)


def heavier(body, **changes):
    return replace(body, **changes)


def pinocchio_chain(body):
    """The chain with relative angles about z in the x-y plane, gravity along -y; rate i is dq_i - dq_(i-1)."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -body.gravity, 0.0])
    m, moments = link_masses(body)
    joints, coms = build_joint_offsets(body), build_com_offsets(body)
    parent = 0
    for k in range(6):
        place = np.append(joints[k, k - 1], 0.0) if k else np.zeros(3)
        parent = model.addJoint(
            parent, pin.JointModelRZ(), pin.SE3(np.eye(3), place), f"joint_{k + 1}"
        )
        inertia = pin.Inertia(
            m[k], np.append(coms[k, k], 0.0), np.diag([moments[k], moments[k], moments[k]])
        )
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def relative(values):
    return np.diff(values, prepend=0.0)


BODY, TIMES = R1.parameters.body, R1.switches
STEP = build_step(BODY, R1.at, TIMES)
DSP1, DSP2 = PHASES["DSP1"], PHASES["DSP2"]
INSTANTS = [(DSP1, t) for t in DOUBLE["DSP1"]] + [(DSP2, t) for t in DOUBLE["DSP2"]]
GAITS = [(R1, t) for t in (0.62, 0.68, 0.74)] + [(other_gait(seed), None) for seed in range(1, 8)]


def double_support(gait, t, phase=None):
    """Return body, chain, tip, total wrench and legs of an instant in double support; its middle where no time is given."""
    t = 0.5 * (gait.switches[0] + gait.switches[1]) if t is None else t
    phase = phase or find_phase(t, gait.switches)
    body, chain = gait.parameters.body, chain_at(gait, t, phase.base)
    return (
        body,
        chain,
        phase.tip,
        compute_ground_wrench(body, chain),
        build_legs(body, chain, phase.tip),
    )


def zmp_at(t, base="rear"):
    return compute_ground_wrench(BODY, chain_at(R1, t, base)).zmp


def leg_coordinates(robot):
    """Return the joints of the URDF biped in the order of the paper's torques, from the rear ankle to the front one."""
    return [
        robot.joint(name).v.start
        for name in (
            "left_ankle",
            "left_knee",
            "left_hip",
            "right_hip",
            "right_knee",
            "right_ankle",
        )
    ]
