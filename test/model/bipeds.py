# SPDX-License-Identifier: Apache-2.0
"""Bipeds as URDF text, exactly symmetric, with whatever shapes, names and proportions a test wants."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

THIGH, SHANK, ANKLE, HALF_HIP = 0.4, 0.38, 0.08, 0.1
BOX = '<collision><origin xyz="0.04 0.005 -0.06"/><geometry><box size="0.22 0.1 0.04"/></geometry></collision>'


def biped(
    *,
    feet: Mapping[str, str] | None = None,
    names: tuple[str, str] = ("left", "right"),
    foot: str = "foot",
    knee: tuple[float, float] = (0.0, 2.4),
    ankle_rest: float = 0.0,
) -> str:
    """Return a pelvis with two legs of six joints.

    Args:
        feet: Shapes of the left and the right foot; boxes, mirrored, where None.
        names: Prefix of the left and of the right leg.
        foot: What the foot link is called after the prefix.
        knee: Limits of the knees.
        ankle_rest: Pitch of the ankle joint's frame, so that the zero pose bends it.
    """
    left, right = names
    shapes = feet or {left: BOX, right: BOX.replace("0.005", "-0.005")}
    parts = [_link("pelvis", 12.0, "0.01 0 0.05")]
    for side, sign in ((left, 1), (right, -1)):
        below = ankle_rest
        parts += [
            _joint(f"{side}_hip_yaw", "pelvis", f"{side}_hip1", f"0 {sign * HALF_HIP} 0", "0 0 1"),
            _link(f"{side}_hip1", 0.5, "0 0 0"),
            _joint(f"{side}_hip_roll", f"{side}_hip1", f"{side}_hip2", "0 0 0", "1 0 0"),
            _link(f"{side}_hip2", 0.5, "0 0 0"),
            _joint(f"{side}_hip_pitch", f"{side}_hip2", f"{side}_thigh", "0 0 0", "0 1 0"),
            _link(f"{side}_thigh", 4.0, f"0.01 {sign * 0.01} -0.2"),
            _joint(
                f"{side}_knee", f"{side}_thigh", f"{side}_shank", f"0 0 {-THIGH}", "0 1 0", knee
            ),
            _link(f"{side}_shank", 3.0, f"0 {sign * 0.005} -0.18"),
            _joint(
                f"{side}_pitch2",
                f"{side}_shank",
                f"{side}_cross",
                f"0 0 {-SHANK}",
                "0 1 0",
                rpy=f"0 {below} 0",
            ),
            _link(f"{side}_cross", 0.1, "0 0 0"),
            _joint(f"{side}_roll2", f"{side}_cross", f"{side}_{foot}", "0 0 0", "1 0 0"),
            _link(f"{side}_{foot}", 1.0, "0.03 0 -0.05", shapes[side]),
        ]
    return f'<robot name="biped">{"".join(parts)}</robot>'


def strip(text: str, *, shapes: bool = True, names: bool = False) -> str:
    """Return a URDF without its shapes, or with names that say nothing."""
    robot = etree.fromstring(text.encode(), etree.XMLParser(remove_comments=True))
    for link in robot.findall("link") if shapes else ():
        for kind in ("visual", "collision"):
            for part in link.findall(kind):
                link.remove(part)
    if names:
        _rename(robot)
    return etree.tostring(robot, encoding="unicode")


def _rename(robot: etree._Element) -> None:
    links = {link.get("name"): f"body{i}" for i, link in enumerate(robot.findall("link"))}
    joints = {joint.get("name"): f"axis{i}" for i, joint in enumerate(robot.findall("joint"))}
    for link in robot.findall("link"):
        link.set("name", links[link.get("name")])
    for joint in robot.findall("joint"):
        joint.set("name", joints[joint.get("name")])
        for role in ("parent", "child"):
            joint.find(role).set("link", links[joint.find(role).get("link")])
        for mimic in joint.findall("mimic"):
            mimic.set("joint", joints.get(mimic.get("joint"), "none"))


def _link(name: str, mass: float, centre: str, shapes: str = "") -> str:
    moment = 0.004 * mass
    inertia = f'<inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>{inertia}</inertial>{shapes}</link>'


def _joint(
    name: str,
    parent: str,
    child: str,
    xyz: str,
    axis: str,
    limit: tuple[float, float] = (-1.5, 1.5),
    *,
    rpy: str = "0 0 0",
) -> str:
    limits = f'<limit lower="{limit[0]}" upper="{limit[1]}" effort="100" velocity="10"/>'
    frame = f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
    return f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{frame}{limits}</joint>'
