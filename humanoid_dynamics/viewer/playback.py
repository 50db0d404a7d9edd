# SPDX-License-Identifier: Apache-2.0
"""A run that is over on the page, or a motion: it plays, stands still, and goes to any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.wrench import find_pressure
from humanoid_dynamics.errors import HumanoidDynamicsError, RecordError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.columns import entry_names
from humanoid_dynamics.series.files import load_record
from humanoid_dynamics.series.layout import Patch
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.names import scene_names
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.viewer.bodies import build_bodies
from humanoid_dynamics.viewer.picture import SMALLEST_FORCE, Painter, Picture, Touch
from humanoid_dynamics.viewer.session import Offer, Session

PLOTTED = 600  # rows of a record in its plots
Touches = Callable[[int, pin.Data], Sequence[Touch]]
Numbers = Callable[[int], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Forces:
    """What pushed the robot, and what its motors gave.

    Attributes:
        touches: Row and placed kinematics -> forces of the surroundings.
        motors: The motors.
        torques: (n, len(motors)) their torques [N·m, N].
    """

    touches: Touches
    motors: tuple[str, ...]
    torques: Matrix


class Playback(Session):
    """Plays instants of one robot over and over.

    Attributes:
        bodies: What is drawn.
        offer: What the user may do.
        course: Samples of the whole record for the plots.
    """

    def __init__(
        self,
        robot: RobotModel,
        times: Vector,
        configurations: Matrix,
        *,
        title: str,
        numbers: Numbers | None = None,
        forces: Forces | None = None,
        reference: Matrix | None = None,
        simple: bool = False,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            times: (n,) instants, ascending [s].
            configurations: (n, nq) configurations.
            title: What it is, in a sentence.
            numbers: Row -> numbers for the plots.
            forces: Forces of the surroundings and torques, or None.
            reference: (n, nq) configurations of the ghost, or None.
            simple: Whether to leave out meshes.

        Raises:
            HumanoidDynamicsError: If there is no instant.
        """
        if not len(times):
            raise HumanoidDynamicsError(f"{title}: there is no instant to show")
        self._robot, self._times, self._q, self._reference = (
            robot,
            np.asarray(times) - times[0],
            configurations,
            reference,
        )
        self._forces, self._told = forces, numbers
        self._data = robot.data()
        self.bodies = build_bodies(robot, simple=simple)
        self._painter = Painter(robot, self.bodies)
        self._t, self._paused = 0.0, False
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self.offer = Offer(
            title,
            length=float(self._times[-1]),
            motors=forces.motors if forces else (),
            weight=weight,
        )
        rows = (
            np.unique(np.linspace(0, len(self._times) - 1, PLOTTED).astype(int))
            if numbers or forces
            else ()
        )
        self.course = tuple(
            (float(self._times[row]), self._read_numbers(row), self._read_torques(row))
            for row in rows
        )

    def advance(self, seconds: float) -> None:
        """Go on playing [s], from the beginning again after the end."""
        if not self._paused:
            self._t += seconds
            if self._t > self._times[-1]:
                self._t = 0.0

    def picture(self) -> Picture:
        """Return the instant that is next."""
        row = min(int(np.searchsorted(self._times, self._t - 1e-9)), len(self._times) - 1)
        q = self._q[row]
        t, numbers = float(self._times[row]), self._read_numbers(row)
        reference = None if self._reference is None else self._reference[row]
        if self._forces is None:
            return self._painter.paint(t, q, reference=reference, numbers=numbers)
        pin.framesForwardKinematics(self._robot.model, self._data, q)
        picture = self._painter.paint(
            t, q, self._forces.touches(row, self._data), reference=reference, numbers=numbers
        )
        return replace(picture, torques=self._read_torques(row))

    def _read_numbers(self, row: int) -> Mapping[str, float]:
        return {} if self._told is None else self._told(row)

    def _read_torques(self, row: int) -> Mapping[str, float]:
        return (
            {}
            if self._forces is None
            else dict(zip(self._forces.motors, self._forces.torques[row].tolist(), strict=True))
        )

    def pause(self, paused: bool) -> None:
        """Stop the time, or let it go on."""
        self._paused = paused

    def step(self) -> None:
        """Go to the next instant."""
        row = int(np.searchsorted(self._times, self._t + 1e-9))
        self._t = float(self._times[row]) if row < len(self._times) else 0.0

    def reset(self) -> None:
        """Go to the beginning."""
        self._t, self._paused = 0.0, False

    def seek(self, t: float) -> None:
        """Go to a time [s] and stay there."""
        self._t, self._paused = float(np.clip(t, 0.0, self._times[-1])), True


def play_record(path: Path, *, simple: bool = False) -> Playback:
    """Return a record as something to look at.

    Args:
        path: The record.
        simple: Whether to leave out meshes.

    Returns:
        What plays it.

    Raises:
        RecordError: If it is no record, or it does not tell its robot.
    """
    record = load_record(path)
    segments = list(record.segments())
    rows, _ = segments[0]  # another tree of bodies is another robot: the first one is shown
    robot = _find_robot(record, str(path))
    names, columns = tuple(entry_names(robot)), record.table("q").columns[: robot.nq]
    if names != columns:
        raise RecordError(
            str(path),
            f"its configuration begins with {columns[:3]}, that of its robot with {names[:3]}",
        )
    q = record.table("q").values[rows, : robot.nq]
    wrenches = {patch: record.wrench(patch.name)[rows] for patch in segments[0][1].patches}

    def touches(row: int, data: pin.Data) -> list[Touch]:
        felt = (_locate(robot, data, patch, wrench[row]) for patch, wrench in wrenches.items())
        return [touch for touch in felt if touch is not None]

    energy = record.table("energy")

    def numbers(row: int) -> dict[str, float]:
        normal = {
            f"normal force, {patch.name} [N]": float(w[row, 2])
            for patch, w in wrenches.items()
            if len(patch.corners) and w[:, 2].any()
        }
        return {
            **normal,
            **{
                f"energy, {name} [J]": float(energy.column(name)[rows][row])
                for name in ("kinetic", "potential")
            },
        }

    tau = record.table("tau")
    title = record.about.get("title", "") or f"Record {path.name}"
    forces = Forces(touches, tau.columns, tau.values[rows])
    return Playback(
        robot, record.t[rows], q, title=title, numbers=numbers, forces=forces, simple=simple
    )


def play_clip(clip: Clip, *, reference: Clip | None = None, simple: bool = False) -> Playback:
    """Return a motion as something to look at.

    Args:
        clip: The motion.
        reference: Another motion of the same robot, sampled at the same instants, shown as a ghost.
        simple: Whether to leave out meshes.

    Returns:
        What plays it.
    """
    ghost = None if reference is None else reference.q
    return Playback(
        clip.robot,
        clip.times,
        clip.q,
        title=f"Motion {Path(clip.origin).name}",
        reference=ghost,
        simple=simple,
    )


def _find_robot(record: Record, origin: str) -> RobotModel:
    scene = record.about.get("scene", "")
    if scene in scene_names():
        return load_scene(scene).robot
    if record.about.get("urdf"):
        return load_robot(record.about["urdf"])
    raise RecordError(origin, "contains neither a scene of this package nor the URDF of its robot")


def _locate(robot: RobotModel, data: pin.Data, patch: Patch, wrench: Vector) -> Touch | None:
    """Return the force of a contact at its centre of pressure, in the world; None where it is too small to be seen."""
    force = wrench[:3]
    if not np.isfinite(wrench).all() or np.linalg.norm(force) < SMALLEST_FORCE:
        return None
    surface = robot.surfaces.get(patch.name)
    X_WC = data.oMf[robot.link_frame(patch.frame) if surface is None else surface.frame]
    place = np.zeros(3)
    if len(patch.corners):
        place[:2] = np.nan_to_num(find_pressure(wrench[None], SMALLEST_FORCE)[0])
    corners = (
        np.column_stack((patch.corners, np.zeros(len(patch.corners)))) @ X_WC.rotation.T
        + X_WC.translation
    )
    return Touch(patch.name, X_WC.act(place), X_WC.rotation @ force, corners)
