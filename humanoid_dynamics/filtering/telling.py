"""What the filter says of its ticks, in a word and in words."""

from __future__ import annotations

from humanoid_dynamics.filtering.conditioning.sample_faults import REASONS
from humanoid_dynamics.filtering.fallen import FALLEN
from humanoid_dynamics.filtering.frame import STATUSES, Frame


def tell_frame(frame: Frame, refused: str, stood: float, *, believed: bool) -> tuple[str, str]:
    """Return a word of ``STATUSES``, the rung with its number, and the reason.

    Args:
        frame: What is handed out.
        refused: What became of the last sample where it was left out.
        stood: For how long the reference has stood still because nothing comes [s].
        believed: Whether the state it begins with is that of the robot, where one was measured.
    """
    word = _name(frame, believed)
    if word == "ok" and stood > 0.0:
        why = f"; the last one was left out: {REASONS[refused]}" if refused else ""
        return "silent", f"the reference has stood still for {stood:.2f} s, no sample has come{why}"
    return word, STATUSES[word.split()[0]]


def _name(frame: Frame, believed: bool) -> str:
    if frame.rung == FALLEN:
        return "fallen"
    if not believed:
        return "state_not_finite"
    if frame.rung:
        return f"rung {frame.rung}"
    return "ok" if frame.certificate.holds else "outside"


def tell_awaited(refused: str, seconds: tuple[float, float] | None, *, planned: bool, ended: bool) -> tuple[str, str]:
    """Return status and reason where there is no frame.

    Args:
        refused: What became of the last sample where it was left out.
        seconds: How much look-ahead is there, and how much is enough [s]; None where no sample was taken.
        planned: Whether the first frames are planned.
        ended: Whether no sample will follow.
    """
    if ended:
        return "ended", STATUSES["ended"]
    if planned:
        return "waiting", "where to stand is being looked for"
    if seconds is not None:
        return "waiting", f"{seconds[0]:.2f} s of {seconds[1]:.2f} s of look-ahead are there"
    return "waiting", f"no sample was taken: {REASONS[refused]}" if refused else "no sample has come"
