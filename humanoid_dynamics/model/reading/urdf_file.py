# SPDX-License-Identifier: Apache-2.0
"""URDF text into records: every defect named with its element, file and line.

Nothing is executed and nothing is fetched: entities are refused, meshes are only names.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from lxml import etree

from humanoid_dynamics.errors import UrdfError
from humanoid_dynamics.model.reading.urdf import KINDS, Urdf, UrdfJoint, UrdfLink
from humanoid_dynamics.model.shape import GEOMETRIES, Geometry
from humanoid_dynamics.spatial.arrays import Matrix

MOST_ELEMENTS = 10_000
LARGEST_NUMBER = 1e12  # of metres, kilograms or kg·m²
XACRO = "http://www.ros.org/wiki/xacro"
NOTHING = (0.0, 0.0, 0.0)


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
        raise _Reader(origin, "robot").fail(
            root, f"has {len(root)} elements, expected at most {MOST_ELEMENTS}"
        )
    links, joints, groups = (_by_name(root, tag, origin) for tag in ("link", "joint", "spherical"))
    if not links:
        raise _Reader(origin, "robot").fail(root, "has no link")
    return Urdf(
        name=root.get("name", "") or "robot",
        origin=origin,
        text=text,
        links={
            name: _read_link(_Reader(origin, f"link {name!r}"), link, name)
            for name, link in links.items()
        },
        joints={
            name: _read_joint(_Reader(origin, f"joint {name!r}"), joint, name)
            for name, joint in joints.items()
        },
        spherical={
            name: _read_group(_Reader(origin, f"spherical joint {name!r}"), group)
            for name, group in groups.items()
        },
        ignored=tuple(
            (name, str(shape.tag))
            for name, link in links.items()
            for shape in _shapes(link, known=False)
        ),
    )


def _parse_xml(text: str, origin: str) -> etree._Element:
    entity = text.find("<!ENTITY")
    if entity >= 0:
        line = text.count("\n", 0, entity) + 1
        raise UrdfError(
            origin, "<!ENTITY>", "XML entities are not accepted in a robot description", line
        )
    options = {
        "resolve_entities": False,
        "load_dtd": False,
        "no_network": True,
        "remove_comments": True,
        "remove_pis": True,
    }
    try:
        root = etree.fromstring(text.encode(), etree.XMLParser(encoding="utf-8", **options))
    except etree.XMLSyntaxError as cause:
        raise UrdfError(origin, "XML", str(cause.msg), cause.lineno) from cause
    except UnicodeEncodeError as cause:
        raise UrdfError(
            origin, "XML", f"character {cause.object[cause.start]!a} is an unpaired surrogate"
        ) from cause
    namespace = root.nsmap.get(None)
    for element in root.iter(f"{{{namespace}}}*") if namespace else ():
        element.tag = etree.QName(element).localname
    if root.tag != "robot":
        raise _Reader(origin, f"<{root.tag}>").fail(root, "is the root element, expected <robot>")
    if any(
        next(macro.iterancestors("visual"), None) is None for macro in root.iter(f"{{{XACRO}}}*")
    ):  # looks may stay unexpanded
        raise _Reader(origin, "robot").fail(
            root,
            "holds xacro macros that were not expanded; a xacro file is read by its ending .xacro",
        )
    return root


def _by_name(root: etree._Element, tag: str, origin: str) -> dict[str, etree._Element]:
    found: dict[str, etree._Element] = {}
    for element in root.findall(tag):
        name = element.get("name")
        if not name:
            raise _Reader(origin, f"<{tag}>").fail(element, "has no name")
        if name in found:
            raise _Reader(origin, f"{tag} {name!r}").fail(
                element, f"is defined twice, first on line {found[name].sourceline}"
            )
        found[name] = element
    return found


class _Reader:
    """Reads the values of one element and knows where it stands when something is wrong."""

    def __init__(self, origin: str, where: str) -> None:
        self._origin, self._where = origin, where

    def fail(self, element: etree._Element, problem: str) -> UrdfError:
        return UrdfError(self._origin, self._where, problem, int(element.sourceline or 0))

    def numbers(
        self,
        element: etree._Element,
        key: str,
        count: int,
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
            wanted = ("one number" if count == 1 else f"{count} numbers") + (
                "" if largest == np.inf else f" up to {largest:g}"
            )
            raise self.fail(element, f"<{element.tag}> {key}={text!r:.80}, expected {wanted}")
        return values

    def number(self, element: etree._Element, key: str, default: float | None = None) -> float:
        return self.numbers(element, key, 1, None if default is None else (default,))[0]

    def attributes(self, element: etree._Element | None, keys: tuple[str, ...]) -> dict[str, float]:
        if element is None:
            return {}
        return {
            key: self.numbers(element, key, 1, largest=np.inf)[0]
            for key in keys
            if element.get(key) is not None
        }

    def pose(self, element: etree._Element) -> pin.SE3:
        origin = element.find("origin")
        if origin is None:
            return pin.SE3.Identity()
        rpy = self.numbers(origin, "rpy", 3, NOTHING)
        return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(self.numbers(origin, "xyz", 3, NOTHING)))

    def link(self, element: etree._Element, role: str) -> str:
        child = element.find(role)
        name = None if child is None else child.get("link")
        if not name:
            raise self.fail(element, f"names no {role} link")
        return str(name)


def _read_link(reader: _Reader, element: etree._Element, name: str) -> UrdfLink:
    inertial = element.find("inertial")
    mass, X_LI, inertia = (
        (0.0, pin.SE3.Identity(), np.zeros((3, 3)))
        if inertial is None
        else _read_inertial(reader, inertial)
    )
    visuals, collisions = (
        tuple(_read_geometry(reader, shape) for shape in _shapes(element, tag))
        for tag in ("visual", "collision")
    )
    return UrdfLink(name, int(element.sourceline or 0), mass, X_LI, inertia, visuals, collisions)


def _read_inertial(reader: _Reader, element: etree._Element) -> tuple[float, pin.SE3, Matrix]:
    mass, inertia = element.find("mass"), element.find("inertia")
    if mass is None:
        raise reader.fail(element, "has an inertial element without a mass")
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    xx, xy, xz, yy, yz, zz = (
        0.0 if inertia is None else reader.number(inertia, key, 0.0) for key in keys
    )
    return (
        reader.number(mass, "value"),
        reader.pose(element),
        np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
    )


def _shapes(link: etree._Element, *tags: str, known: bool = True) -> list[etree._Element]:
    """Return the shapes of the visual or collision elements of a link, of the kinds a URDF has or of all others."""
    shapes = [
        shape
        for tag in tags or ("visual", "collision")
        for shape in link.findall(f"{tag}/geometry/*")
    ]
    return [shape for shape in shapes if (shape.tag in GEOMETRIES) == known]


def _read_geometry(reader: _Reader, shape: etree._Element) -> Geometry:
    size: tuple[float, ...] = ()
    for key in GEOMETRIES[shape.tag]:
        size += reader.numbers(
            shape,
            key,
            3 if key in {"size", "scale"} else 1,
            (1.0, 1.0, 1.0) if key == "scale" else None,
        )
    return Geometry(
        shape.tag, size, reader.pose(shape.getparent().getparent()), shape.get("filename", "")
    )


def _read_joint(reader: _Reader, element: etree._Element, name: str) -> UrdfJoint:
    kind = element.get("type", "")
    if kind not in KINDS:
        raise reader.fail(element, f"type {kind!r}, expected one of {', '.join(KINDS)}")
    axis, mimic = element.find("axis"), element.find("mimic")
    return UrdfJoint(
        name=name,
        kind=kind,
        line=int(element.sourceline or 0),
        parent=reader.link(element, "parent"),
        child=reader.link(element, "child"),
        X_PJ=reader.pose(element),
        axis=np.array([1.0, 0.0, 0.0] if axis is None else reader.numbers(axis, "xyz", 3)),
        limit=reader.attributes(element.find("limit"), ("lower", "upper", "velocity", "effort")),
        dynamics=reader.attributes(element.find("dynamics"), ("damping", "friction")),
        mimic=None
        if mimic is None
        else (
            mimic.get("joint", ""),
            reader.number(mimic, "multiplier", 1.0),
            reader.number(mimic, "offset", 0.0),
        ),
    )


def _read_group(reader: _Reader, element: etree._Element) -> tuple[str, ...]:
    joints = tuple(element.get("joints", "").split())
    if len(set(joints)) != 3:
        raise reader.fail(
            element, f"joints={element.get('joints')!r:.80}, expected the names of three joints"
        )
    return joints
