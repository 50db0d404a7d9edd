"""A URDF as typed records: every value read once, every defect named with its element, file and line.

Nothing is executed and nothing is fetched: entities are refused, meshes are only names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from lxml import etree

from humanoid_dynamics.errors import UrdfError
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
MOST_ELEMENTS = 10_000
LARGEST_NUMBER = 1e12  # of metres, kilograms or kg·m²
XACRO = "http://www.ros.org/wiki/xacro"


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
        X_LI: Pose of the inertial frame, at the centre of mass, in the link.
        inertia: (3, 3) inertia about the centre of mass, axes of the inertial frame [kg·m²].
        visuals: Shapes to draw.
        collisions: Shapes that touch.
    """

    name: str
    line: int
    mass: float
    X_LI: pin.SE3
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
        ignored: Links with a shape no URDF has, with the name of its element.
    """

    name: str
    origin: str
    text: str = field(repr=False)
    links: Mapping[str, UrdfLink] = field(repr=False)
    joints: Mapping[str, UrdfJoint] = field(repr=False)
    spherical: Mapping[str, tuple[str, ...]] = field(repr=False)
    ignored: tuple[tuple[str, str], ...] = field(repr=False)

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
    if len(root) > MOST_ELEMENTS:
        raise UrdfError(origin, "robot", f"has {len(root)} elements, expected at most {MOST_ELEMENTS}", _line(root))
    links = [_read_link(element, origin) for element in root.findall("link")]
    joints = [_read_joint(element, origin) for element in root.findall("joint")]
    groups = [(_name_of(element, origin), element) for element in root.findall("spherical")]
    if not links:
        raise UrdfError(origin, "robot", "has no link", _line(root))
    _check_unique("link", [(link.name, link.line) for link in links], origin)
    _check_unique("joint", [(joint.name, joint.line) for joint in joints], origin)
    _check_unique("spherical joint", [(name, _line(element)) for name, element in groups], origin)
    return Urdf(
        name=root.get("name", "") or "robot",
        origin=origin,
        text=text,
        links={link.name: link for link in links},
        joints={joint.name: joint for joint in joints},
        spherical={name: _read_group(name, element, origin) for name, element in groups},
        ignored=tuple((_name_of(link, origin), shape.tag) for link in root.findall("link") for shape in _shapes(link, known=False)),
    )


def _parse_xml(text: str, origin: str) -> etree._Element:
    entity = text.find("<!ENTITY")
    if entity >= 0:
        raise UrdfError(
            origin, "<!ENTITY>", "a robot description needs no XML entities; they are refused unread", text.count("\n", 0, entity) + 1
        )
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as cause:
        raise UrdfError(origin, "XML", str(cause.msg), cause.lineno) from cause
    except UnicodeEncodeError as cause:
        raise UrdfError(origin, "XML", f"character {cause.object[cause.start]!a} is half of a pair") from cause
    namespace = root.nsmap.get(None)
    for element in root.iter(f"{{{namespace}}}*") if namespace else ():
        element.tag = etree.QName(element).localname
    if root.tag != "robot":
        raise UrdfError(origin, f"<{root.tag}>", "is the root element, expected <robot>", _line(root))
    if next(root.iter(f"{{{XACRO}}}*"), None) is not None:
        raise UrdfError(
            origin, "robot", "holds xacro macros that were not expanded; a xacro file is read by its ending .xacro", _line(root)
        )
    return root


def _read_link(element: etree._Element, origin: str) -> UrdfLink:
    name = _name_of(element, origin)
    where = f"link {name!r}"
    inertial = element.find("inertial")
    mass, inertia = (0.0, np.zeros((3, 3))) if inertial is None else _read_inertial(inertial, origin, where)
    X_LI = pin.SE3.Identity() if inertial is None else _read_origin(inertial, origin, where)
    visuals, collisions = (
        tuple(_read_geometry(shape, origin, where) for shape in _shapes(element, tag)) for tag in ("visual", "collision")
    )
    return UrdfLink(name, _line(element), mass, X_LI, inertia, visuals, collisions)


def _shapes(link: etree._Element, *tags: str, known: bool = True) -> list[etree._Element]:
    """Return the shapes of the visual or collision elements of a link, of the kinds a URDF has or of all others."""
    shapes = [shape for tag in tags or ("visual", "collision") for shape in link.findall(f"{tag}/geometry/*")]
    return [shape for shape in shapes if (shape.tag in GEOMETRIES) == known]


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


def _read_geometry(shape: etree._Element, origin: str, where: str) -> Geometry:
    size: tuple[float, ...] = ()
    for key in GEOMETRIES[shape.tag]:
        count = 3 if key in {"size", "scale"} else 1
        default = (1.0, 1.0, 1.0) if key == "scale" else None
        size += _numbers(shape, key, count, origin, where, default=default)
    return Geometry(shape.tag, size, _read_origin(shape.getparent().getparent(), origin, where), shape.get("filename", ""))


def _read_group(name: str, element: etree._Element, origin: str) -> tuple[str, ...]:
    joints = tuple(element.get("joints", "").split())
    if len(set(joints)) != 3:
        raise UrdfError(
            origin, f"spherical joint {name!r}", f"joints={element.get('joints')!r}, expected the names of three joints", _line(element)
        )
    return joints


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
    return {key: _numbers(element, key, 1, origin, where, largest=np.inf)[0] for key in keys if element.get(key) is not None}


def _numbers(
    element: etree._Element,
    key: str,
    count: int,
    origin: str,
    where: str,
    *,
    default: tuple[float, ...] | None = None,
    largest: float = LARGEST_NUMBER,
) -> tuple[float, ...]:
    text = element.get(key)
    if text is None and default is not None:
        return default
    try:
        values = tuple(float(word) for word in (text or "").split())
    except ValueError:
        values = ()
    if len(values) != count or not all(abs(value) <= largest for value in values):
        wanted = ("one number" if count == 1 else f"{count} numbers") + ("" if largest == np.inf else f" up to {largest:g}")
        raise UrdfError(origin, where, f"<{element.tag}> {key}={text!r:.80}, expected {wanted}", _line(element))
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


def _check_unique(kind: str, named: list[tuple[str, int]], origin: str) -> None:
    seen: dict[str, int] = {}
    for name, line in named:
        if name in seen:
            raise UrdfError(origin, f"{kind} {name!r}", f"is defined twice, first on line {seen[name]}", line)
        seen[name] = line
