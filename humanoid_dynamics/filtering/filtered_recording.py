# SPDX-License-Identifier: Apache-2.0
"""A filtered clip as a table to write: motion, torques, contact forces and certificates, so that it can be judged again.

Beside what every archive of a motion holds:

    tau                 (n, na) torques of all coordinates but those of the base, with tau_names (na,)
    wrench_NAME         (n, 6) wrench of the ground on a sole, force first, in axes of the sole, about its origin
    edge_NAME           (n,) what a standing sole stands on: 0 all of it, 1 the front edge, -1 the rear edge
    rung                (n,) place on the ladder of the tick: 0 where all limits were kept
    reference_times     (n,) instant of the reference each frame belongs to [s]
    certificate_NAME    (n,) each number of the certificate, see ``FrameCertificate``
    report              the report of the clip as JSON, see ``ClipReport``; finished and preserved as booleans beside it

Velocities are those at the instants, accelerations those with which motion goes on: with torques and wrenches they fulfil the equation
of motion.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.filtering.certificate import FrameCertificate
from humanoid_dynamics.filtering.clip_filter import FilteredClip
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.formats.columns import velocity_columns
from humanoid_dynamics.motion.formats.mapping import build_recording
from humanoid_dynamics.motion.formats.recording import Recording

CERTIFICATE = "certificate_"


def build_filtered_recording(found: FilteredClip) -> Recording:
    """Write a filtered clip as a table with named columns, and all that certifies it beside.

    Args:
        found: The clip after the filter.

    Returns:
        The table, which ``build_clip`` turns back into the motion.
    """
    robot, frames = found.clip.robot, found.frames
    extras: dict[str, NDArray[np.generic]] = {
        "tau": np.array([frame.tau for frame in frames]),
        "tau_names": np.array(velocity_columns(robot)[BASE:], dtype=str),
        "rung": np.array([frame.rung for frame in frames]),
        "finished": np.array(found.report.finished),
        "preserved": np.array(found.report.preserved),
        "report": np.array(json.dumps(found.report.to_dict(), allow_nan=False)),
        "reference_times": np.array([frame.reference for frame in frames]),
    }
    for foot, sole in enumerate(find_soles(robot)):
        extras[f"wrench_{sole.name}"] = np.array([frame.wrenches[foot] for frame in frames])
        extras[f"edge_{sole.name}"] = np.array([frame.edges[foot] for frame in frames])
    for name in (field.name for field in fields(FrameCertificate)):
        extras[CERTIFICATE + name] = np.array(
            [getattr(frame.certificate, name) for frame in frames]
        )
    return replace(build_recording(found.clip), extras=extras)
