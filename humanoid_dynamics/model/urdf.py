"""A URDF as typed records: every value read once, every defect named with its element, file and line.

Nothing is executed and nothing is fetched: entities are refused, meshes are only names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from lxml import etree

from humanoid_dynamics.errors import SourceError, UrdfError
from humanoid_dynamics.spatial.arrays import Matrix, Vector

MOVING_KINDS = ("revolute", "continuous", "prismatic", "floating", "planar")
KINDS = (*MOVING_KINDS, "fixed")
GEOMETRIES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("scale",),
}


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape on a link.

    Attributes:
        kind: ``box``, ``sphere``, ``cylinder``, ``capsule`` or ``mesh``.
        size: Full edge lengths, radius, radius and length, or the three scales of a mesh [m, m, m, -].
        X_LG: Pose of the shape in the link.
        filename: Mesh file, empty for the other kinds.
    """

    kind: str
    size: tuple[float, ...]
    X_LG: pin.SE3
    filename: str = ""


@dataclass(frozen=True, eq=False)
class UrdfLink:
    """One link as written.

    Attributes:
        name: Its name.
        line: Line of the file.
        mass: Mass [kg], zero where the link has no inertial element.
        inertia: (3, 3) inertia about the centre of mass, axes of the inertial origin [kg·m²].
        visuals: Shapes to draw.
        collisions: Shapes that touch.
    """

    name: str
    line: int
    mass: float
    inertia: Matrix
    visuals: tuple[Geometry, ...]
    collisions: tuple[Geometry, ...]


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """One joint as written.

    Attributes:
        name: Its name.
        kind: URDF type.
        line: Line of the file.
        parent: Parent link.
        child: Child link.
        X_PJ: Pose of the joint in the parent link.
        axis: (3,) axis in the joint frame, as written [-].
        limit: What the limit element says, by attribute; what is absent is absent.
        dynamics: Friction and damping, by attribute.
        mimic: Leader, ratio and offset, or None.
    """

    name: str
    kind: str
    line: int
    parent: str
    child: str
    X_PJ: pin.SE3
    axis: Vector
    limit: Mapping[str, float]
    dynamics: Mapping[str, float]
    mimic: tuple[str, float, float] | None


@dataclass(frozen=True, eq=False)
class Urdf:
    """A URDF, read.

    Attributes:
        name: Name of the robot.
        origin: File or source it came from.
        text: The XML as it came.
        links: Links by name, in the order of the file.
        joints: Joints by name, in the order of the file.
        spherical: Groups of three revolutes that mean one spherical joint, by name.
    """

    name: str
    origin: str
    text: str = field(repr=False)
    links: Mapping[str, UrdfLink] = field(repr=False)
    joints: Mapping[str, UrdfJoint] = field(repr=False)
    spherical: Mapping[str, tuple[str, ...]] = field(repr=False)

    @property
    def mesh_files(self) -> tuple[str, ...]:
        """Mesh files it refers to, each once."""
        shapes = (shape for link in self.links.values() for shape in (*link.visuals, *link.collisions))
        return tuple(dict.fromkeys(shape.filename for shape in shapes if shape.filename))


def read_urdf(text: str, origin: str) -> Urdf:
    """Read URDF text into records; the tree and the physics are checked elsewhere.

    Args:
        text: XML of one robot.
        origin: Where it came from, for messages.

    Returns:
        The records.

    Raises:
        UrdfError: If an element is malformed or a name is used twice.
    """
    root = _parse_xml(text, origin)
    links = [_read_link(element, origin) for element in root.findall("link")]
    joints = [_read_joint(element, origin) for element in root.findall("joint")]
    if not links:
        raise UrdfError(origin, "robot", "has no link", _line(root))
    _check_unique("link", links, origin)
    _check_unique("joint", joints, origin)
    return Urdf(
        name=root.get("name", "") or "robot",
        origin=origin,
        text=text,
        links={link.name: link for link in links},
        joints={joint.name: joint for joint in joints},
        spherical={_name_of(group, origin): tuple(group.get("joints", "").split()) for group in root.findall("spherical")},
    )


def _parse_xml(text: str, origin: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as cause:
        raise UrdfError(origin, "XML", str(cause.msg), cause.lineno) from cause
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise SourceError(f"{origin}: declares XML entities, which a robot description never needs; they are refused unread")
    if root.tag != "robot":
        raise UrdfError(origin, f"<{root.tag}>", "is the root element, expected <robot>", _line(root))
    return root


def _read_link(element: etree._Element, origin: str) -> UrdfLink:
    name = _name_of(element, origin)
    where = f"link {name!r}"
    inertial = element.find("inertial")
    mass, inertia = (0.0, np.zeros((3, 3))) if inertial is None else _read_inertial(inertial, origin, where)
    visuals = tuple(_read_geometry(part, origin, where) for part in element.findall("visual") if part.find("geometry") is not None)
    collisions = tuple(_read_geometry(part, origin, where) for part in element.findall("collision") if part.find("geometry") is not None)
    return UrdfLink(name, _line(element), mass, inertia, visuals, collisions)


def _read_inertial(element: etree._Element, origin: str, where: str) -> tuple[float, Matrix]:
    mass = element.find("mass")
    entries = element.find("inertia")
    if mass is None:
        raise UrdfError(origin, where, "has an inertial element without a mass", _line(element))
    value = _numbers(mass, "value", 1, origin, where)[0]
    if entries is None:
        return value, np.zeros((3, 3))
    xx, xy, xz, yy, yz, zz = (
        _numbers(entries, key, 1, origin, where, default=(0.0,))[0] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    return value, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _read_geometry(element: etree._Element, origin: str, where: str) -> Geometry:
    shape = next((child for child in element.find("geometry") if isinstance(child.tag, str)), None)
    if shape is None or shape.tag not in GEOMETRIES:
        found = "nothing" if shape is None else f"<{shape.tag}>"
        raise UrdfError(origin, where, f"geometry holds {found}, expected one of {', '.join(GEOMETRIES)}", _line(element))
    size: tuple[float, ...] = ()
    for key in GEOMETRIES[shape.tag]:
        count = 3 if key in {"size", "scale"} else 1
        default = (1.0, 1.0, 1.0) if key == "scale" else None
        size += _numbers(shape, key, count, origin, where, default=default)
    return Geometry(shape.tag, size, _read_origin(element, origin, where), shape.get("filename", ""))


def _read_joint(element: etree._Element, origin: str) -> UrdfJoint:
    name = _name_of(element, origin)
    where = f"joint {name!r}"
    kind = element.get("type", "")
    if kind not in KINDS:
        raise UrdfError(origin, where, f"type {kind!r}, expected one of {', '.join(KINDS)}", _line(element))
    axis = element.find("axis")
    return UrdfJoint(
        name=name,
        kind=kind,
        line=_line(element),
        parent=_link_of(element, "parent", origin, where),
        child=_link_of(element, "child", origin, where),
        X_PJ=_read_origin(element, origin, where),
        axis=np.array([1.0, 0.0, 0.0] if axis is None else _numbers(axis, "xyz", 3, origin, where)),
        limit=_attributes(element.find("limit"), ("lower", "upper", "velocity", "effort"), origin, where),
        dynamics=_attributes(element.find("dynamics"), ("damping", "friction"), origin, where),
        mimic=_read_mimic(element.find("mimic"), origin, where),
    )


def _read_mimic(element: etree._Element | None, origin: str, where: str) -> tuple[str, float, float] | None:
    if element is None:
        return None
    ratio = _numbers(element, "multiplier", 1, origin, where, default=(1.0,))[0]
    offset = _numbers(element, "offset", 1, origin, where, default=(0.0,))[0]
    return element.get("joint", ""), ratio, offset


def _read_origin(element: etree._Element, origin: str, where: str) -> pin.SE3:
    pose = element.find("origin")
    if pose is None:
        return pin.SE3.Identity()
    xyz = _numbers(pose, "xyz", 3, origin, where, default=(0.0, 0.0, 0.0))
    rpy = _numbers(pose, "rpy", 3, origin, where, default=(0.0, 0.0, 0.0))
    return pin.SE3(pin.rpy.rpyToMatrix(np.array(rpy)), np.array(xyz))


def _attributes(element: etree._Element | None, keys: tuple[str, ...], origin: str, where: str) -> dict[str, float]:
    if element is None:
        return {}
    return {key: _numbers(element, key, 1, origin, where)[0] for key in keys if element.get(key) is not None}


def _numbers(
    element: etree._Element, key: str, count: int, origin: str, where: str, *, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    text = element.get(key)
    if text is None and default is not None:
        return default
    try:
        values = tuple(float(word) for word in (text or "").split())
    except ValueError:
        values = ()
    if len(values) != count or not np.isfinite(values).all():
        wanted = "one finite number" if count == 1 else f"{count} finite numbers"
        raise UrdfError(origin, where, f"<{element.tag}> {key}={text!r}, expected {wanted}", _line(element))
    return values


def _line(element: etree._Element) -> int:
    return int(element.sourceline or 0)


def _name_of(element: etree._Element, origin: str) -> str:
    name = element.get("name")
    if not name:
        raise UrdfError(origin, f"<{element.tag}>", "has no name", _line(element))
    return str(name)


def _link_of(element: etree._Element, role: str, origin: str, where: str) -> str:
    child = element.find(role)
    name = None if child is None else child.get("link")
    if not name:
        raise UrdfError(origin, where, f"names no {role} link", _line(element))
    return str(name)


def _check_unique(kind: str, records: list[UrdfLink] | list[UrdfJoint], origin: str) -> None:
    seen: dict[str, int] = {}
    for record in records:
        if record.name in seen:
            raise UrdfError(origin, f"{kind} {record.name!r}", f"is defined twice, first on line {seen[record.name]}", record.line)
        seen[record.name] = record.line
