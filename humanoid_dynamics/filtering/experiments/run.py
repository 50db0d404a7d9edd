# SPDX-License-Identifier: Apache-2.0
"""A whole clip through the filter of the paper, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.papers.dynamics_filter.feedback import PaperReference
from humanoid_dynamics.papers.dynamics_filter.filter import PaperFilter
from humanoid_dynamics.papers.dynamics_filter.frame import PaperFilterStatus, PaperFrame
from humanoid_dynamics.papers.dynamics_filter.ground import Ground
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Vector

FALLEN_HEIGHT = 0.55  # share of the height of the base in the reference
FALLEN_TILT = np.deg2rad(70.0)


@dataclass(frozen=True, eq=False)
class PaperRun:
    """What the filter made of a clip.

    Attributes:
        robot: The robot.
        reference: What it was asked.
        frames: What it gave, up to the fall where it fell.
        fallen: When it fell [s], or None.
        joint_rms: Root mean square of the joint errors [rad].
        joint_error: (n,) the same, frame by frame [rad].
        base_error: (n,) distance of the base from the reference [m].
        seconds_per_frame: (n,) computing time [s].
    """

    robot: RobotModel
    reference: Clip = field(repr=False)
    frames: tuple[PaperFrame, ...] = field(repr=False)
    fallen: float | None
    joint_rms: float
    joint_error: Vector = field(repr=False)
    base_error: Vector = field(repr=False)
    seconds_per_frame: Vector = field(repr=False)

    @property
    def finished(self) -> bool:
        """Whether it came to the end on its feet; what is consistent and lies on the ground is not finished."""
        return self.fallen is None

    def share(self, test: Callable[[PaperFrame], bool]) -> float:
        """Return the share of the frames that pass a test.

        Args:
            test: The test.
        """
        return float(np.mean([test(frame) for frame in self.frames]))

    def clip(self) -> Clip:
        """Return the motion as a clip, with velocities, accelerations and contacts."""
        frames = self.frames
        names = [surface.name for surface in frames[0].surfaces]
        contacts = {
            name: np.array([bool(frame.held[k]) for frame in frames])
            for k, name in enumerate(names)
        }
        q, v, a = (np.array([getattr(frame, name) for frame in frames]) for name in ("q", "v", "a"))
        return Clip(
            self.robot,
            np.array([frame.time for frame in frames]),
            q,
            v,
            a,
            contacts,
            f"{self.reference.origin}, filtered",
        )


def run_paper_filter(
    robot: RobotModel,
    clip: Clip,
    style: PaperStyle | None = None,
    ground: Ground | None = None,
    *,
    use_contacts: bool = False,
    surfaces: Iterable[str] | None = None,
    between: Callable[[PaperFilter, int], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> PaperRun:
    """Filter a clip from its first sample on.

    Args:
        robot: The robot.
        clip: Reference at the step of the filter, with velocities and accelerations.
        style: How the filter is run.
        ground: What it stands on; level where left out.
        use_contacts: Whether the contact labels of the clip are told to the filter; it finds contacts by itself where not.
        surfaces: Contact surfaces that may touch; those the robot stands on where left out.
        between: Called before each tick with the filter and the row, to push or to change the structure.
        progress: Called with the share that is done.

    Returns:
        What came of it; it ends with a fall.

    Raises:
        ClipError: If the clip has no velocities and accelerations, or another rate than the filter.
    """
    style = style or PaperStyle()
    if clip.v is None or clip.a is None:
        raise ClipError(clip.origin, "has no velocities and accelerations; prepare it first")
    if abs(clip.rate * style.dt - 1.0) > 1e-3:
        raise ClipError(
            clip.origin,
            f"received {clip.rate:.6g} samples per second, expected {1.0 / style.dt:.6g}",
        )
    tool = PaperFilter(robot, State(clip.q[0], clip.v[0]), style, ground, surfaces)
    frames, spent, fallen = [], [], None
    for row in range(len(clip)):
        flags = (
            {name: bool(labels[row]) for name, labels in clip.contacts.items()}
            if use_contacts
            else None
        )
        if between is not None:
            between(tool, row)
        begin = perf_counter()
        frame = tool.step(PaperReference(clip.q[row], clip.v[row], clip.a[row], flags))
        spent.append(perf_counter() - begin)
        frames.append(frame)
        if frame.certificate.status is PaperFilterStatus.DIVERGED or _has_fallen(
            robot, frame.q, clip.q[row]
        ):
            fallen = frame.time
            break
        if progress is not None:
            progress((row + 1) / len(clip))
    joint, base = _errors(robot, clip, frames)
    return PaperRun(
        robot,
        clip,
        tuple(frames),
        fallen,
        float(np.sqrt(np.mean(joint**2))),
        joint,
        base,
        np.array(spent),
    )


def summarise(run: PaperRun) -> dict[str, object]:
    """Tell in plain numbers what came of a run: SI units.

    Args:
        run: The run.
    """
    certificates = [frame.certificate for frame in run.frames]
    weight = run.robot.mass * 9.81
    return {
        "finished": run.finished,
        "fallen_at": run.fallen,
        "seconds": run.frames[-1].time,
        "of": run.reference.duration,
        "joint_rms_deg": float(np.rad2deg(run.joint_rms)),
        "base_error_end": float(run.base_error[-1]),
        "residual_worst_share_of_weight": max(c.residual for c in certificates) / weight,
        "normal_force_ok": run.share(lambda f: f.certificate.normal_margin >= -1e-6 * weight),
        "cop_ok": run.share(lambda f: f.certificate.cop_margin >= -1e-6),
        "friction_ok": run.share(lambda f: f.certificate.friction_margin >= -1e-6),
        "torque_ok": run.share(lambda f: f.certificate.torque_margin >= -1e-9),
        "depth_worst": max(c.depth for c in certificates),
        "solves_worst": max(c.solves for c in certificates),
        "statuses": dict(Counter(c.status for c in certificates)),
        "ways": dict(Counter(c.way for c in certificates)),
        "lag_frames": find_lag(run),
        "milliseconds_per_frame": float(1e3 * np.median(run.seconds_per_frame)),
    }


def find_lag(run: PaperRun, most: int = 40) -> int:
    """Return by how many frames joints follow their reference, by cross-correlation of their rates.

    Args:
        run: The run.
        most: Largest lag that is looked for.
    """
    v = run.reference.v
    n = len(run.frames)
    if v is None or n <= 2 * most:
        return 0
    done, asked = np.array([frame.v[6:] for frame in run.frames]), v[:n, 6:]
    return int(np.argmax([float(np.sum(done[lag:] * asked[: n - lag])) for lag in range(most)]))


def _errors(robot: RobotModel, clip: Clip, frames: list[PaperFrame]) -> tuple[Vector, Vector]:
    first = 6 if robot.root == "free_flyer" else 0
    misses = [
        pin.difference(robot.model, clip.q[row], frame.q)[first:]
        for row, frame in enumerate(frames)
    ]
    joint = np.sqrt(np.mean(np.square(misses), axis=1))
    base = np.array(
        [np.linalg.norm(frame.q[:3] - clip.q[row, :3]) for row, frame in enumerate(frames)]
    )
    return joint, base


def _has_fallen(robot: RobotModel, q: Vector, q_ref: Vector) -> bool:
    """Return whether the base is far too low or tilted."""
    if robot.root != "free_flyer":
        return False
    upright = [pin.Quaternion(x[3:7]).matrix()[:, 2] for x in (q, q_ref)]
    tilt = np.arccos(np.clip(upright[0] @ upright[1], -1.0, 1.0))
    return bool(q[2] < FALLEN_HEIGHT * q_ref[2] or tilt > FALLEN_TILT)
