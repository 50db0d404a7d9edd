# SPDX-License-Identifier: Apache-2.0
"""Joint orders of motion files without joint names: published robots, and the tree of any robot.

Simulators order joints by the tree of the robot: MuJoCo by depth, Isaac Lab by breadth, with children as in the description.
"""

from __future__ import annotations

from itertools import zip_longest
from xml.etree import ElementTree

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.robot import RobotModel

Names = tuple[str, ...]
LEG = ("hip", "knee", "ankle")
OWN, BREADTH = "robot", "_breadth_first"  # in names of orders
SHARED = 0.5  # of the joints of a known order that a robot must have


def _sides(*parts: str) -> Names:
    return tuple(f"{side}_{part}_joint" for side in ("left", "right") for part in parts)


_G1_LEGS = _sides("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_WAIST = ("waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint")
_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")
_WRIST = ("wrist_roll", "wrist_pitch", "wrist_yaw")
_T1_ARM = ("Shoulder_Pitch", "Shoulder_Roll", "Elbow_Pitch", "Elbow_Yaw")
_T1_LEG = ("Hip_Pitch", "Hip_Roll", "Hip_Yaw", "Knee_Pitch", "Ankle_Pitch", "Ankle_Roll")
_T1_HEAD = ("AAHead_yaw", "Head_pitch")


def _t1(*arm: str) -> Names:
    left, right = ([f"{side}_{part}" for part in arm] for side in ("Left", "Right"))
    legs = [f"{side}_{part}" for side in ("Left", "Right") for part in _T1_LEG]
    return (*left, *right, "Waist", *legs)


KNOWN_ORDERS: dict[str, Names] = {
    "g1_29": _G1_LEGS + _WAIST + _sides(*_ARM, *_WRIST),
    "g1_23": _G1_LEGS + _WAIST[:1] + _sides(*_ARM, "wrist_roll"),
    "g1_23_fixed_wrists": _G1_LEGS + _WAIST + _sides(*_ARM),
    "h1_19": (
        *_sides("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle"),
        "torso_joint",
        *_sides(*_ARM),
    ),
    "h1_2_27": (
        *_sides("hip_yaw", "hip_pitch", "hip_roll", "knee", "ankle_pitch", "ankle_roll"),
        "torso_joint",
        *_sides(*_ARM, *_WRIST),
    ),
    "t1_21": _t1(*_T1_ARM),
    "t1_23": _T1_HEAD + _t1(*_T1_ARM),
    "t1_29": _T1_HEAD + _t1(*_T1_ARM, "Wrist_Pitch", "Wrist_Yaw", "Hand_Roll"),
}


def parse_order(text: str, robot: RobotModel) -> Names:
    """Return the joint names of an order, or of a list of names between commas.

    Args:
        text: Name of an order, see ``name_orders``, or joint names.
        robot: The robot.

    Raises:
        UnknownNameError: If it is neither.
    """
    if "," in text:
        return tuple(name.strip() for name in text.split(","))
    orders = name_orders(robot)
    if text not in orders:
        raise UnknownNameError("joint order", text, orders)
    return orders[text]


def find_orders(robot: RobotModel, count: int, *, breadth_first: bool = True) -> dict[str, Names]:
    """Return the orders that so many joints of a robot, or of a variant of it, may have.

    Args:
        robot: The robot.
        count: Number of joints in the file.
        breadth_first: Whether orders of Isaac Lab are possible too.

    Returns:
        Name of the order -> joints; orders with equal joints once.
    """
    found = {
        name: order
        for name, order in name_orders(robot).items()
        if len(order) == count
        and (breadth_first or not name.endswith(BREADTH))
        and (name.startswith(OWN) or _is_variant(robot, order))
    }
    return {name: order for name, order in found.items() if _is_first(order, name, found)}


def name_orders(robot: RobotModel) -> dict[str, Names]:
    """Return all orders that have a name: known ones, those of G1 by breadth, and those of the robot.

    Args:
        robot: The robot.
    """
    g1 = {name: order for name, order in KNOWN_ORDERS.items() if name.startswith("g1")}
    return {
        **KNOWN_ORDERS,
        **{name + BREADTH: _sort_by_breadth(order) for name, order in g1.items()},
        OWN: order_joints(robot),
        OWN + BREADTH: order_joints(robot, breadth_first=True),
    }


def order_joints(robot: RobotModel, *, breadth_first: bool = False) -> Names:
    """Return the joints of one coordinate in the order of a simulator, children as in the description.

    Args:
        robot: The robot.
        breadth_first: Whether joints are ordered as in Isaac Lab; otherwise as in MuJoCo.
    """
    links = order_links(robot, breadth_first=breadth_first)
    place = {link: index for index, link in enumerate(links)}
    joints = [joint for joint in robot.joints if joint.q.stop - joint.q.start == 1]
    return tuple(
        j.name for j in sorted(joints, key=lambda joint: place.get(joint.child, len(place)))
    )


def order_links(robot: RobotModel, *, breadth_first: bool = False) -> Names:
    """Return the links in the order of a simulator, the root first, children as in the description.

    Args:
        robot: The robot.
        breadth_first: Whether links are ordered as in Isaac Lab; otherwise as in MuJoCo.
    """
    children: dict[str, list[str]] = {}
    for joint in ElementTree.fromstring(robot.urdf).iter("joint"):  # noqa: S314 - the text of a robot that was loaded
        parent, child = joint.find("parent"), joint.find("child")
        if parent is not None and child is not None:
            children.setdefault(parent.get("link", ""), []).append(child.get("link", ""))
    inner = {child for links in children.values() for child in links}
    waiting = [link for link in robot.links if link not in inner]
    ordered: list[str] = []
    while waiting:
        link = waiting.pop(0)
        ordered.append(link)
        below = children.get(link, [])
        waiting = [*waiting, *below] if breadth_first else [*below, *waiting]
    return tuple(ordered)


def _is_variant(robot: RobotModel, order: Names) -> bool:
    """Return whether a robot has all leg joints of a known order, and half of its joints."""
    own = {joint.name for joint in robot.joints}
    legs = {joint for joint in order if any(part in joint.lower() for part in LEG)}
    return legs <= own and len(own.intersection(order)) >= SHARED * len(order)


def _sort_by_breadth(order: Names) -> Names:
    """Return a known order of Unitree G1 as Isaac Lab has it: level by level of legs and of arms behind the waist."""
    rest = [name for name in order if name not in _G1_LEGS]
    trunk = [name for name in rest if name in _WAIST]
    legs, arms = (
        [[name for name in names if name.startswith(side)] for side in ("left", "right")]
        for names in (_G1_LEGS, rest)
    )
    levels = zip_longest(*legs, *(trunk + arm for arm in arms))
    return tuple(dict.fromkeys(name for level in levels for name in level if name))


def _is_first(order: Names, name: str, found: dict[str, Names]) -> bool:
    return next(key for key, value in found.items() if value == order) == name
