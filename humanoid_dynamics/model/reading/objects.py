# SPDX-License-Identifier: Apache-2.0
"""URDF objects of yourdfpy, urchin and urdfpy, written back as URDF text without touching their meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from lxml import etree
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import SourceError

SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "mesh": ("scale",),
}


def is_urdf_object(source: object) -> bool:
    """Return whether this is a URDF object of yourdfpy, urchin or urdfpy."""
    return all(hasattr(_robot(source), name) for name in ("name", "links", "joints"))


def write_object(source: Any, origin: str) -> str:
    """Write a URDF object as URDF text.

    Args:
        source: A ``yourdfpy.URDF``, ``urchin.URDF`` or ``urdfpy.URDF``.
        origin: What it is, for messages.

    Returns:
        XML text; transmissions and materials are left out.

    Raises:
        SourceError: If the object lacks what a URDF object has.
    """
    try:
        return _write(source)
    except (AttributeError, TypeError, ValueError, IndexError) as cause:
        raise SourceError(f"{origin}: cannot be written as URDF: {cause}") from cause


def _robot(source: Any) -> Any:
    """Return the object itself, or the record of links and joints that yourdfpy keeps inside."""
    return getattr(source, "robot", source)


def _write(source: Any) -> str:
    # Not by the object's own writer: yourdfpy's leaves mimic elements out, urchin's writes the meshes.
    read = _robot(source)
    robot = etree.Element("robot", name=str(read.name))
    for link in read.links:
        _write_link(etree.SubElement(robot, "link", name=link.name), link)
    for joint in read.joints:
        kind = joint.type if hasattr(joint, "type") else joint.joint_type
        _write_joint(etree.SubElement(robot, "joint", name=joint.name, type=kind), joint, kind)
    return str(etree.tostring(robot, encoding="unicode"))


def _write_link(element: etree._Element, link: Any) -> None:
    if link.inertial is not None:
        inertial = etree.SubElement(element, "inertial")
        _write_origin(inertial, link.inertial.origin)
        _write_numbers(inertial, "mass", value=link.inertial.mass)
        if link.inertial.inertia is not None:
            xx, xy, xz, _, yy, yz, _, _, zz = np.asarray(link.inertial.inertia, dtype=float).flat
            _write_numbers(inertial, "inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for shape in shapes:
            _write_shape(etree.SubElement(element, tag), shape)


def _write_shape(element: etree._Element, shape: Any) -> None:
    _write_origin(element, shape.origin)
    geometry = etree.SubElement(element, "geometry")
    for kind, keys in SIZES.items():
        part = getattr(shape.geometry, kind)
        if part is None:
            continue
        sizes = {key: getattr(part, key) for key in keys}
        if kind == "mesh" and sizes["scale"] is not None:
            sizes["scale"] = np.broadcast_to(sizes["scale"], 3)
        written = _write_numbers(geometry, kind, **sizes)
        if kind == "mesh":
            written.set("filename", str(part.filename))


def _write_joint(element: etree._Element, joint: Any, kind: str) -> None:
    _write_origin(element, joint.origin)
    etree.SubElement(element, "parent", link=joint.parent)
    etree.SubElement(element, "child", link=joint.child)
    if kind not in {"fixed", "floating"}:
        _write_numbers(element, "axis", xyz=joint.axis)
    for tag, keys in (
        ("limit", ("lower", "upper", "velocity", "effort")),
        ("dynamics", ("damping", "friction")),
    ):
        part = getattr(joint, tag)
        if part is not None:
            _write_numbers(element, tag, **{key: getattr(part, key) for key in keys})
    if joint.mimic is not None:
        _write_numbers(
            element, "mimic", multiplier=joint.mimic.multiplier, offset=joint.mimic.offset
        ).set("joint", joint.mimic.joint)


def _write_origin(element: etree._Element, X: Any) -> None:
    if X is not None:
        pose = np.asarray(X, dtype=float)
        _write_numbers(element, "origin", xyz=pose[:3, 3], rpy=pin.rpy.matrixToRpy(pose[:3, :3]))


def _write_numbers(parent: etree._Element, tag: str, **values: ArrayLike | None) -> etree._Element:
    """Add an element with an attribute for each number or vector that is given."""
    words = {
        key: " ".join(repr(float(x)) for x in np.atleast_1d(value))
        for key, value in values.items()
        if value is not None
    }
    return etree.SubElement(parent, tag, words)
