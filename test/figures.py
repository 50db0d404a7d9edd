# SPDX-License-Identifier: Apache-2.0
"""The mechanisms with known answers: four-bar, five-bar, parallelogram, Bennett, Stewart, two arms on a bar, swing, high bar."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from mechanisms import GRAVITY_Y, Tree, rod, translation

from humanoid_dynamics.model.loop import LoopClosure

HERE = pin.SE3.Identity()


def rotation_x(angle, x=0.0):
    return pin.SE3(pin.exp3(np.array([angle, 0.0, 0.0])), np.array([x, 0.0, 0.0]))


def four_bar(a=0.2, b=0.5, c=0.4, d=0.45, masses=(0.3, 0.6, 0.5), kind="revolute", **options):
    """F1: crank, coupler (relative), rocker; the pin between coupler and rocker is cut."""
    tree = Tree(GRAVITY_Y).add("crank", pin.JointModelRZ(), inertia=rod(a, masses[0]))
    tree.add(
        "coupler", pin.JointModelRZ(), parent="crank", X=translation(a), inertia=rod(b, masses[1])
    )
    tree.add("rocker", pin.JointModelRZ(), X=translation(d), inertia=rod(c, masses[2]))
    return tree.robot(
        [LoopClosure("pin", kind, "coupler", translation(b), "rocker", translation(c))], **options
    )


def four_bar_angles(phi, a=0.2, b=0.5, c=0.4, d=0.45):
    """Absolute coupler and rocker angles, elbow up."""
    elbow = np.array([a * np.cos(phi), a * np.sin(phi)])
    reach = np.array([d, 0.0]) - elbow
    distance = np.linalg.norm(reach)
    along = (b**2 - c**2 + distance**2) / (2 * distance)
    up = np.sqrt(b**2 - along**2)
    unit = reach / distance
    tip = elbow + along * unit + up * np.array([-unit[1], unit[0]])
    return np.arctan2(*(tip - elbow)[::-1]), np.arctan2(tip[1], tip[0] - d)


def four_bar_posture(phi):
    chi, psi = four_bar_angles(phi)
    return np.array([phi, chi - phi, psi])


def five_bar(l1=0.3, l2=0.4, half=0.1, *, masses=(0.4, 0.5), **options):
    """F2: two arms, base joints and elbows (relative), tips pinned together; the closure is seen from the right distal link."""
    tree = Tree(GRAVITY_Y)
    for side, x in (("left", -half), ("right", half)):
        tree.add(f"{side}_base", pin.JointModelRZ(), X=translation(x), inertia=rod(l1, masses[0]))
        tree.add(
            f"{side}_elbow",
            pin.JointModelRZ(),
            parent=f"{side}_base",
            X=translation(l1),
            inertia=rod(l2, masses[1]),
        )
    loop = LoopClosure(
        "tip", "revolute", "left_elbow", translation(l2), "right_elbow", translation(l2)
    )
    return tree.robot([loop], **options)


def five_bar_posture(left, right, l1=0.3, l2=0.4, half=0.1):
    """Angles (left base, left elbow, right base, right elbow), upper branch, and the tip."""
    elbows = [
        np.array([x + l1 * np.cos(angle), l1 * np.sin(angle)])
        for x, angle in ((-half, left), (half, right))
    ]
    middle, across = (elbows[0] + elbows[1]) / 2, elbows[1] - elbows[0]
    width = np.linalg.norm(across)
    rise = np.sqrt(max(0.0, l2**2 - (width / 2) ** 2))
    tip = middle + rise * np.array([-across[1], across[0]]) / width
    distal = [np.arctan2(*(tip - elbow)[::-1]) for elbow in elbows]
    return np.array([left, distal[0] - left, right, distal[1] - right]), tip


def bennett(a=0.3, b=None, degrees=(50, 30, 70)):
    """F5: four skew revolutes; the last link closes on the ground with all six rows at the origin of joint 1."""
    theta_1, alpha, beta = np.radians(degrees)
    b = a * np.sin(beta) / np.sin(alpha) if b is None else b
    theta_2 = 2 * np.arctan(
        np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta_1 / 2)
    )
    tree, last = Tree(), HERE
    for k, (length, twist) in enumerate(((a, alpha), (b, beta), (a, alpha), (b, beta))):
        inertia = pin.Inertia(1.0, np.array([length / 2, 0, 0]), np.diag([0.01, 0.02, 0.02]))
        tree.add(
            f"r{k + 1}",
            pin.JointModelRZ(),
            parent=f"r{k}" if k else "world",
            X=last,
            inertia=inertia,
        )
        last = rotation_x(twist, length)
    loop = LoopClosure("bennett", "fixed", "r4", last, "world", HERE)
    return tree.robot([loop], posture=np.array([theta_1, theta_2, -theta_1, -theta_2])), theta_2


def stewart(base_joint="universal"):
    """F6: platform carried by leg 0, five spherical closures; returns robot, anchors and pose of the platform."""
    base = [
        0.6 * np.array([np.cos(t), np.sin(t), 0.0])
        for t in np.radians((10, 110, 130, 230, 250, 350))
    ]
    top = [
        0.35 * np.array([np.cos(t), np.sin(t), 0.0])
        for t in np.radians((50, 70, 170, 190, 290, 310))
    ]
    R = pin.utils.rotate("z", 0.2) @ pin.utils.rotate("y", -0.15) @ pin.utils.rotate("x", 0.1)
    X_WP = pin.SE3(R, np.array([0.05, -0.03, 0.7]))
    platform = pin.Inertia(20.0, np.zeros(3), np.diag([1.0, 1.0, 2.0]))
    tree, posture = Tree(), []
    for k in range(6):
        leg = X_WP.act(top[k]) - base[k]
        length = np.linalg.norm(leg)
        x, y, z = leg / length
        angles = (np.arctan2(-y, z), np.arcsin(x))
        R_leg = pin.exp3(np.array([angles[0], 0, 0])) @ pin.exp3(np.array([0, angles[1], 0]))
        joint = pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
        if base_joint == "spherical":
            joint, angles = pin.JointModelSpherical(), pin.Quaternion(R_leg).coeffs()
        tree.add(f"u{k}", joint, X=translation(*base[k])).add(
            f"leg{k}", pin.JointModelPZ(), parent=f"u{k}"
        )
        posture += [*angles, length]
        if k == 0:
            tree.add(
                "s0",
                pin.JointModelSpherical(),
                parent="leg0",
                inertia=pin.SE3(np.eye(3), -top[0]).act(platform),
            )
            posture += list(pin.Quaternion(R_leg.T @ R).coeffs())
    loops = [
        LoopClosure(
            f"s{k}", "spherical", f"leg{k}", HERE, "s0", pin.SE3(np.eye(3), top[k] - top[0])
        )
        for k in range(1, 6)
    ]
    robot = tree.robot(loops, actuated=[f"leg{k}" for k in range(6)], posture=np.array(posture))
    return robot, base, top, X_WP


def two_arms():
    """F7: two planar 3R arms, a bar welded to both hands; the bar belongs to the left hand, the right weld is cut."""
    lengths, masses = (0.3, 0.3, 0.1), (1.0, 1.0, 0.2)
    tree, posture = Tree(GRAVITY_Y), []
    for side, base, wrist, bend in (("left", -0.25, -0.08, 1), ("right", 0.25, 0.12, -1)):
        reach = np.array([wrist - base, 0.35])
        distance, direction = np.linalg.norm(reach), np.arctan2(reach[1], reach[0])
        half = np.arccos(distance / 0.6)
        upper = direction + bend * half
        fore = direction - bend * half
        posture += [upper, fore - upper, np.pi / 2 - fore]
        parent, X = "world", translation(base)
        for k, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
            inertia = rod(length, mass)
            if side == "left" and k == 2:
                inertia += pin.SE3(pin.utils.rotate("z", -np.pi / 2), np.array([0.1, 0, 0])).act(
                    rod(0.2, 3.0)
                )
            tree.add(f"{side}{k}", pin.JointModelRZ(), parent=parent, X=X, inertia=inertia)
            parent, X = f"{side}{k}", translation(length)
    bar_end = pin.SE3(np.eye(3), np.array([0.1, -0.2, 0.0]))
    return tree.robot(
        [LoopClosure("bar", "fixed", "right2", translation(0.1), "left2", bar_end)],
        posture=np.array(posture),
    )


def segment(length, mass, radius=0.05, sign=-1.0):
    """A limb along z with some breadth."""
    lengthwise = mass * length**2 / 12 + mass * radius**2 / 4
    return pin.Inertia(
        mass,
        np.array([0, 0, sign * length / 2]),
        np.diag([lengthwise, lengthwise, mass * radius**2 / 2]),
    )


SHOULDER = 0.2193


def add_figure(tree, shoulder=SHOULDER):
    """16 freedoms and a free trunk: four limbs of a spherical and a revolute joint about y; arms hang up, legs down."""
    tree.add("trunk", pin.JointModelFreeFlyer(), inertia=segment(0.5, 35.0, 0.12, sign=1.0))
    for side, y in (("left", 1.0), ("right", -1.0)):
        up = translation(0, y * shoulder, 0.5)
        tree.add(
            f"{side}_shoulder",
            pin.JointModelSpherical(),
            parent="trunk",
            X=up,
            inertia=segment(0.32, 1.8, sign=1.0),
        )
        tree.add(
            f"{side}_elbow",
            pin.JointModelRY(),
            parent=f"{side}_shoulder",
            X=translation(z=0.32),
            inertia=segment(0.38, 1.4, sign=1.0),
        )
        tree.add(
            f"{side}_hip",
            pin.JointModelSpherical(),
            parent="trunk",
            X=translation(0, y * 0.1, 0),
            inertia=segment(0.42, 6.5),
        )
        tree.add(
            f"{side}_knee",
            pin.JointModelRY(),
            parent=f"{side}_hip",
            X=translation(z=-0.42),
            inertia=segment(0.5, 4.0),
        )
    return tree


def swing():
    """Ropes on spherical joints at the ceiling, a bar between them, a figure that holds on to the bar with both hands."""
    tree = Tree()
    rope = pin.Inertia(0.5, np.array([0, 0, -0.8]), np.diag([0.1, 0.1, 0.001]))
    tree.add("left_rope", pin.JointModelSpherical(), X=translation(0, 0.25, 3.0), inertia=rope)
    bar = pin.Inertia(2.0, np.array([0, -0.25, 0]), np.diag([0.05, 0.002, 0.05]))
    tree.add(
        "bar", pin.JointModelSpherical(), parent="left_rope", X=translation(z=-1.6), inertia=bar
    )
    tree.add("right_rope", pin.JointModelSpherical(), X=translation(0, -0.25, 3.0), inertia=rope)
    add_figure(tree)
    loops = [
        LoopClosure(
            "rope", "spherical", "right_rope", translation(z=-1.6), "bar", translation(y=-0.5)
        )
    ]
    for side, y in (("left", 0.15), ("right", -0.15)):
        loops.append(
            LoopClosure(
                f"{side}_hand",
                "spherical",
                f"{side}_elbow",
                translation(z=0.38),
                "bar",
                translation(y=y - 0.25),
            )
        )
    robot = tree.robot(loops)
    posture = robot.posture.copy()
    posture[robot.joint("trunk").q.start + 2] = 1.4 - 0.5 - 0.62
    for name in ("left_elbow", "right_elbow"):
        posture[robot.joint(name).q] = -0.7
    return robot, posture


def high_bar(grip):
    """The figure on a bar at 1.9 m: a revolute joint about the bar (y) between each hand and the bar."""
    tree, about_y = add_figure(Tree()), pin.SE3(pin.utils.rotate("x", -np.pi / 2), np.zeros(3))
    loops = []
    for side, y in (("left", grip), ("right", -grip)):
        on_hand = pin.SE3(about_y.rotation, np.array([0, 0, 0.38]))
        loops.append(
            LoopClosure(
                f"{side}_hand",
                "revolute",
                f"{side}_elbow",
                on_hand,
                "world",
                translation(0, y, 1.9) * about_y,
            )
        )
    robot = tree.robot(loops)
    posture = robot.posture.copy()
    posture[robot.joint("trunk").q.start + 2] = 1.9 - 0.5 - 0.6
    for name in ("left_elbow", "right_elbow"):
        posture[robot.joint(name).q] = -0.8
    for name in ("left_shoulder", "right_shoulder"):
        posture[robot.joint(name).q] = pin.Quaternion(pin.exp3(np.array([0.0, 0.45, 0.0]))).coeffs()
    return robot, posture
