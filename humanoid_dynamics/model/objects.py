"""URDF objects of yourdfpy, urchin and urdfpy, written back as URDF text without touching their meshes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin
from lxml import etree

from humanoid_dynamics.errors import SourceError

SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "mesh": ("scale",)}


def is_urdf_object(source: object) -> bool:
    """Return whether this is a URDF object of yourdfpy, urchin or urdfpy."""
    return hasattr(source, "write_xml_string") or all(hasattr(source, name) for name in ("links", "joints", "base_link"))


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


def _write(source: Any) -> str:
    if hasattr(source, "write_xml_string"):
        text = source.write_xml_string()
        return text.decode() if isinstance(text, bytes) else str(text)
    robot = etree.Element("robot", name=str(source.name))
    for link in source.links:
        _write_link(etree.SubElement(robot, "link", name=link.name), link)
    for joint in source.joints:
        _write_joint(etree.SubElement(robot, "joint", name=joint.name, type=joint.joint_type), joint)
    return str(etree.tostring(robot, encoding="unicode"))


def _write_link(element: etree._Element, link: Any) -> None:
    if link.inertial is not None:
        inertial = etree.SubElement(element, "inertial")
        _write_origin(inertial, link.inertial.origin)
        etree.SubElement(inertial, "mass", value=repr(float(link.inertial.mass)))
        xx, xy, xz, _, yy, yz, _, _, zz = (repr(float(value)) for value in np.asarray(link.inertial.inertia).flat)
        etree.SubElement(inertial, "inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for shape in shapes:
            _write_shape(etree.SubElement(element, tag), shape)


def _write_shape(element: etree._Element, shape: Any) -> None:
    _write_origin(element, shape.origin)
    geometry = etree.SubElement(element, "geometry")
    for kind, keys in SIZES.items():
        part = getattr(shape.geometry, kind)
        if part is not None:
            written = etree.SubElement(geometry, kind, {key: _words(getattr(part, key)) for key in keys if getattr(part, key) is not None})
            if kind == "mesh":
                written.set("filename", str(part.filename))


def _write_joint(element: etree._Element, joint: Any) -> None:
    _write_origin(element, joint.origin)
    etree.SubElement(element, "parent", link=joint.parent)
    etree.SubElement(element, "child", link=joint.child)
    if joint.joint_type not in {"fixed", "floating"}:
        etree.SubElement(element, "axis", xyz=_words(joint.axis))
    for tag, keys in (("limit", ("lower", "upper", "velocity", "effort")), ("dynamics", ("damping", "friction"))):
        part = getattr(joint, tag)
        if part is not None:
            values = {key: getattr(part, key) for key in keys}
            etree.SubElement(element, tag, {key: repr(float(value)) for key, value in values.items() if value is not None})
    if joint.mimic is not None:
        mimic = joint.mimic
        etree.SubElement(element, "mimic", joint=mimic.joint, multiplier=repr(float(mimic.multiplier)), offset=repr(float(mimic.offset)))


def _write_origin(element: etree._Element, X: Any) -> None:
    if X is not None:
        pose = np.asarray(X, dtype=float)
        etree.SubElement(element, "origin", xyz=_words(pose[:3, 3]), rpy=_words(pin.rpy.matrixToRpy(pose[:3, :3])))


def _words(values: float | Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in np.atleast_1d(np.asarray(values, dtype=float)))
