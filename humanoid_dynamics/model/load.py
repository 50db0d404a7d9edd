# SPDX-License-Identifier: Apache-2.0
"""The door: any robot in, one ``RobotModel`` out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import DescriptionError, ShapeError, SourceError, UnknownNameError
from humanoid_dynamics.model.aliases import POINT, SURFACE, name_frames
from humanoid_dynamics.model.checks import branches, check_urdf, root_link, walk
from humanoid_dynamics.model.coordinates import Coordinates, read_coordinates
from humanoid_dynamics.model.description import (
    ROOTS,
    Description,
    FrameSpec,
    ImuSpec,
    SurfaceSpec,
)
from humanoid_dynamics.model.imu import BASE, Imu
from humanoid_dynamics.model.inertia import find_inertialess
from humanoid_dynamics.model.loop import LoopClosure, Wheel
from humanoid_dynamics.model.reading.description_file import load_description
from humanoid_dynamics.model.reading.meshes import check_meshes, list_shapes, list_solids
from humanoid_dynamics.model.reading.mimic import find_mimics
from humanoid_dynamics.model.reading.source import read_source
from humanoid_dynamics.model.reading.tree import Replacement, build_tree, reduce_mimics
from humanoid_dynamics.model.reading.urdf import Urdf
from humanoid_dynamics.model.reading.urdf_file import read_urdf
from humanoid_dynamics.model.robot import ControlPoint, Notice, RobotModel
from humanoid_dynamics.model.standing.posture import find_stance, resting_posture
from humanoid_dynamics.model.standing.soles import find_soles
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import check_number, check_vector

WORLD_LINK = "world"
MIMIC_CHOICES = ("constraint", "reduced")
NOT_REDUCED = "keeps its coordinate, with a constraint: reduction requires that the leader precedes the follower and is not continuous"


def as_robot(robot: object) -> RobotModel:
    """Return a robot as it is, and load anything else.

    Args:
        robot: A robot, or what ``load_robot`` reads.

    Raises:
        SourceError: If it cannot be read.
    """
    return robot if isinstance(robot, RobotModel) else load_robot(robot)


def load_robot(
    source: object,
    *,
    root: str | None = None,
    description: str | os.PathLike[str] | Description | None = None,
    mimic: str = "constraint",
    xacro_arguments: Mapping[str, str] | None = None,
) -> RobotModel:
    """Load a robot from anything that names or holds a URDF.

    Args:
        source: Catalogue name, URDF or xacro path, XML text (also a ROS ``robot_description``), or a URDF object of yourdfpy,
            urchin or urdfpy. Words such as ``name:=value`` after the path of a xacro file are its arguments.
        root: ``free_flyer``, ``fixed`` or ``planar``; where None the description decides, then whether the root link is ``world``.
        description: YAML file or description that says what the URDF cannot; where None that of the catalogue, or the YAML file of
            the same name beside the URDF.
        mimic: ``constraint`` keeps a coordinate for each follower, ``reduced`` takes it away.
        xacro_arguments: Arguments for a xacro file.

    Returns:
        The robot.

    Raises:
        SourceError: If the source cannot be read.
        UrdfError: If it is not a robot.
        DescriptionError: If the description names what does not exist.
    """
    if mimic not in MIMIC_CHOICES:
        raise UnknownNameError("choice for mimic joints", mimic, MIMIC_CHOICES)
    found = read_source(source, xacro_arguments)
    urdf = read_urdf(found.text, found.origin)
    described = _name_links(_choose_description(description, found.description), urdf)
    notices = found.notices + check_urdf(urdf) + check_meshes(urdf, found.folder)
    check_description(described, urdf)
    urdf = _lock(urdf, described.fixed)
    root = _choose_root(root, described, urdf)
    replacements = list_replacements(urdf, described)
    mimics, told = find_mimics(
        urdf, {name for replacement in replacements for name in replacement.joints}
    )
    model = build_tree(urdf, root, replacements)
    if mimic == "reduced":
        model, mimics = reduce_mimics(model, mimics)
        told += tuple(Notice("info", f"joint {kept.joint!r}", NOT_REDUCED) for kept in mimics)
    coordinates = read_coordinates(model, urdf, root, replacements, described, mimics=mimics)
    _write_numbers(model, coordinates)
    return _assemble(
        urdf,
        model,
        root=root,
        coordinates=coordinates,
        replacements=replacements,
        description=described,
        notices=notices + told,
        folder=found.folder,
    )


def check_description(description: Description, urdf: Urdf) -> None:
    """Refuse a description that names links or joints the URDF does not have.

    Raises:
        DescriptionError: Naming the key, the name and those that exist.
    """
    frames = {
        f"surfaces.{name}.link": spec.frame.link for name, spec in description.surfaces.items()
    }
    frames |= {
        f"control_points.{name}.link": spec.link
        for name, spec in description.control_points.items()
    }
    frames |= {f"wheels.{name}.link": spec.link for name, spec in description.wheels.items()}
    frames |= {f"imus.{name}.link": spec.frame.link for name, spec in description.imus.items()}
    for name, loop in description.loops.items():
        frames |= {f"loops.{name}.a.link": loop.a.link, f"loops.{name}.b.link": loop.b.link}
    joints = {
        f"spherical.{name}[{i}]": joint
        for name, group in description.spherical.items()
        for i, joint in enumerate(group)
    }
    groups = (*urdf.joints, *urdf.spherical, *description.spherical)
    for key in ("posture", "armature", "friction", "damping", "effort", "substitutions"):
        joints |= {f"{key}.{name}": name for name in getattr(description, key)}
    owners = {f"passive[{i}]": name for i, name in enumerate(description.passive)}
    owners |= {f"fixed[{i}]": name for i, name in enumerate(description.fixed)}
    owners |= {f"motors[{i}]": name for i, name in enumerate(description.motors or ())}
    for kind, asked, known in (
        ("link", frames, (*urdf.links,)),
        ("joint", joints, (*urdf.joints,)),
        ("joint", owners, groups),
    ):
        for key, name in asked.items():
            if name not in known:
                raise DescriptionError(
                    description.origin, key, str(UnknownNameError(kind, name, known))
                )


def list_replacements(urdf: Urdf, description: Description) -> tuple[Replacement, ...]:
    """List the joints that stand for URDF joints: spherical groups of the URDF and of the description, and substitutions."""
    groups = {**urdf.spherical, **description.spherical}
    triples = tuple(Replacement(name, "SPHERICAL", joints) for name, joints in groups.items())
    return triples + tuple(
        Replacement(name, kind, (name,)) for name, kind in description.substitutions.items()
    )


def _lock(urdf: Urdf, fixed: tuple[str, ...]) -> Urdf:
    """Return the URDF with some of its joints fixed where they stand at zero; the joints of a spherical group are named one by one."""
    if not fixed:
        return urdf
    locked = {
        name: replace(joint, kind="fixed", mimic=None) if name in fixed else joint
        for name, joint in urdf.joints.items()
    }
    return replace(urdf, joints=locked)


def _choose_description(
    given: str | os.PathLike[str] | Description | None, found: Description
) -> Description:
    if given is None:
        return found
    if isinstance(given, Description):
        return given
    if not isinstance(given, str | os.PathLike):
        raise SourceError(
            f"a robot description cannot be read from {type(given).__name__}; expected a path or a Description"
        )
    path = Path(given)
    if not path.is_file():
        raise SourceError(f"no robot description file {path}")
    return load_description(path)


def _name_links(description: Description, urdf: Urdf) -> Description:
    """Return the description with links at the ends of loops that are named by a joint: the frame of a joint is that of its child."""

    def name_link(frame: FrameSpec) -> FrameSpec:
        named_by_joint = frame.link not in urdf.links and frame.link in urdf.joints
        return replace(frame, link=urdf.joints[frame.link].child) if named_by_joint else frame

    loops = {
        name: replace(loop, a=name_link(loop.a), b=name_link(loop.b))
        for name, loop in description.loops.items()
    }
    return replace(description, loops=loops)


def _choose_root(given: str | None, description: Description, urdf: Urdf) -> str:
    if given is not None and given not in ROOTS:
        raise UnknownNameError("kind of root", given, ROOTS)
    link = root_link(urdf)
    stuck = link == WORLD_LINK and not any(
        joint.kind == "floating" for joint in branches(urdf).get(link, [])
    )
    return given or description.root or ("fixed" if stuck else "free_flyer")


def _write_numbers(model: pin.Model, coordinates: Coordinates) -> None:
    """Let the pinocchio model say the same as our records, for those who use it alone."""
    limits = coordinates.limits
    model.armature = np.array(coordinates.armature)
    model.lowerPositionLimit, model.upperPositionLimit = (
        np.array(limits.lower),
        np.array(limits.upper),
    )
    model.lowerVelocityLimit, model.upperVelocityLimit = -limits.velocity, np.array(limits.velocity)
    model.lowerEffortLimit, model.upperEffortLimit = -limits.effort, np.array(limits.effort)


def _assemble(
    urdf: Urdf,
    model: pin.Model,
    *,
    root: str,
    coordinates: Coordinates,
    replacements: tuple[Replacement, ...],
    description: Description,
    notices: tuple[Notice, ...],
    folder: Path | None,
) -> RobotModel:
    specs: Mapping[str, SurfaceSpec] = description.surfaces
    if not specs and coordinates.joints and coordinates.joints[0].kind in {"free_flyer", "planar"}:
        specs, found = find_soles(urdf, model, folder)
        notices += found
    surfaces = {name: _add_surface(model, name, spec) for name, spec in specs.items()}
    points = {
        name: _add_point(model, name, spec) for name, spec in description.control_points.items()
    }
    links = tuple(walk(urdf, root_link(urdf)))
    aliases = name_frames(
        description, links, moves=root != "fixed", surfaces=surfaces, points=points
    )
    inertialess = find_inertialess(model, coordinates.joints)
    if inertialess:
        text = "move without inertia, so the mass matrix is singular; torques can be asked for, accelerations cannot"
        notices += (Notice("warning", f"links {', '.join(inertialess)}", text),)
    loops = tuple(
        LoopClosure(name, s.kind, s.a.link, s.a.X_L, s.b.link, s.b.X_L)
        for name, s in description.loops.items()
    )
    posture, told = resting_posture(
        model,
        coordinates,
        description.posture,
        surfaces,
        urdf=urdf,
        replacements=replacements,
        loops=loops,
    )
    actuated = [
        (name, joint.v.start + i)
        for joint in coordinates.joints
        if joint.actuated
        for i, name in enumerate(joint.coordinates)
    ]
    return RobotModel(
        name=urdf.name,
        origin=urdf.origin,
        urdf=urdf.text,
        root=root,
        model=model,
        joints=coordinates.joints,
        links=links,
        actuated=tuple(name for name, _ in actuated),
        actuated_v=np.array([index for _, index in actuated], dtype=np.intp),
        limits=coordinates.limits,
        friction=coordinates.friction,
        damping=coordinates.damping,
        surfaces=MappingProxyType(surfaces),
        control_points=MappingProxyType(points),
        loops=loops,
        wheels=tuple(Wheel(name, spec.link, spec.X_L) for name, spec in description.wheels.items()),
        mimics=coordinates.mimics,
        aliases=MappingProxyType(aliases),
        posture=posture,
        stance=find_stance(model, posture, surfaces),
        inertialess=inertialess,
        notices=notices + coordinates.notices + told,
        shapes=MappingProxyType(list_shapes(urdf, folder)),
        solids=MappingProxyType(list_solids(urdf, folder)),
        imus=MappingProxyType(
            {
                name: Imu(name, spec.frame.link, spec.frame.X_L, spec.errors)
                for name, spec in (description.imus or _base_imu(links[0])).items()
            }
        ),
    )


def _base_imu(link: str) -> Mapping[str, ImuSpec]:
    """Return an IMU without errors at the origin of the root link, for a robot whose description has none."""
    return {BASE: ImuSpec(FrameSpec(link, pin.SE3.Identity()))}


def _check_surface(name: str, spec: SurfaceSpec) -> None:
    """Refuse numbers that no surface can have; a file is refused before, with its key."""
    where = f"surface {name}: vertices"
    corners = np.asarray(spec.vertices)
    if corners.ndim != 2 or not len(corners) or corners.shape[1] != 3:
        raise ShapeError(
            where, f"shape {corners.shape}", "(k, 3), a point, two or the corners of a face"
        )
    check_vector(where, corners.ravel(), corners.size)
    if len(corners) > 1 and np.linalg.matrix_rank(corners[1:] - corners[0]) < min(
        len(corners) - 1, 2
    ):
        raise ShapeError(
            where,
            "corners on one line" if len(corners) > 2 else "one point twice",
            "two points of an edge, or a face",
        )
    check_number(
        f"surface {name}: friction", spec.friction, 0.0, np.inf, "a number that is not negative"
    )
    check_number(
        f"surface {name}: normal_force_limit",
        spec.normal_force_limit,
        np.finfo(float).tiny,
        np.inf,
        "a positive number",
    )


def _add_surface(model: pin.Model, name: str, spec: SurfaceSpec) -> ContactSurface:
    _check_surface(name, spec)
    frame = _add_frame(model, SURFACE + name, spec.frame)
    return ContactSurface(
        name,
        spec.frame.link,
        frame,
        spec.frame.X_L,
        spec.vertices,
        spec.friction,
        spec.normal_force_limit,
        spec.assumed,
    )


def _add_point(model: pin.Model, name: str, spec: FrameSpec) -> ControlPoint:
    return ControlPoint(name, spec.link, _add_frame(model, POINT + name, spec), spec.X_L)


def _add_frame(model: pin.Model, name: str, spec: FrameSpec) -> int:
    parent = int(model.getFrameId(spec.link, pin.FrameType.BODY))
    body = model.frames[parent]
    return int(
        model.addFrame(
            pin.Frame(
                name, body.parentJoint, parent, body.placement * spec.X_L, pin.FrameType.OP_FRAME
            ),
            False,
        )
    )
