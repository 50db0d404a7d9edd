# SPDX-License-Identifier: Apache-2.0
"""Robots nobody has ever seen: trees of boxes, balls and rods with random joints, as URDF."""

import numpy as np

SHAPES = ("box", "sphere", "cylinder")


def inertia(shape, size, mass):
    if shape == "box":
        return (
            mass
            / 12
            * np.array(
                [
                    size[1] ** 2 + size[2] ** 2,
                    size[0] ** 2 + size[2] ** 2,
                    size[0] ** 2 + size[1] ** 2,
                ]
            )
        )
    if shape == "sphere":
        return np.full(3, 0.4 * mass * size[0] ** 2)
    return mass * np.array(
        [
            size[0] ** 2 / 4 + size[1] ** 2 / 12,
            size[0] ** 2 / 4 + size[1] ** 2 / 12,
            size[0] ** 2 / 2,
        ]
    )


def geometry(shape, size):
    if shape == "box":
        return f'<box size="{size[0]} {size[1]} {size[2]}"/>'
    return (
        f'<sphere radius="{size[0]}"/>'
        if shape == "sphere"
        else f'<cylinder radius="{size[0]}" length="{size[1]}"/>'
    )


def write_link(name, rng):
    shape = str(rng.choice(SHAPES))
    size = (
        rng.uniform(0.05, 0.3, 3)
        if shape == "box"
        else rng.uniform(0.04, 0.12, 1)
        if shape == "sphere"
        else rng.uniform([0.03, 0.1], [0.08, 0.4])
    )
    mass = float(np.exp(rng.uniform(np.log(0.2), np.log(8.0))))
    xx, yy, zz = inertia(shape, size, mass)
    body = (
        f'<mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
    )
    return f'<link name="{name}"><inertial>{body}</inertial><collision><geometry>{geometry(shape, size)}</geometry></collision></link>'


def write_joint(k, parent, rng):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    kind = str(rng.choice(("revolute", "revolute", "continuous", "prismatic")))
    low, high = (-0.1, 0.1) if kind == "prismatic" else (-1.5, 1.5)
    limit = (
        ""
        if kind == "continuous"
        else f'<limit lower="{low}" upper="{high}" effort="50" velocity="20"/>'
    )
    xyz, rpy = rng.uniform(-0.25, 0.25, 3), rng.uniform(-3, 3, 3)
    origin = f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>'
    dynamics = (
        f'<dynamics damping="{rng.uniform(0, 0.5)}" friction="{rng.uniform(0, 0.2)}"/>'
        if rng.random() < 0.5
        else ""
    )
    return (
        f'<joint name="joint{k}" type="{kind}"><parent link="link{parent}"/><child link="link{k}"/>{origin}'
        f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>{limit}{dynamics}</joint>'
    )


def write_robot(seed):
    """Return the URDF of a tree of 2 to 20 links."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 21))
    links = [write_link(f"link{k}", rng) for k in range(count)]
    joints = [write_joint(k, int(rng.integers(max(0, k - 4), k)), rng) for k in range(1, count)]
    return f'<robot name="random{seed}">{"".join(links)}{"".join(joints)}</robot>'
