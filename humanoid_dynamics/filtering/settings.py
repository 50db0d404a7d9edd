# SPDX-License-Identifier: Apache-2.0
"""Times and lengths of the conditioning: one set for all clips, scaled by the robot where lengths are concerned."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import REAL

RANGES = {
    "rate": (10.0, 5000.0),
    "lookahead": (0.001, 10.0),
    "smoothing": (0.0, 2.0),
    "com_smoothing": (0.0, 2.0),
    "drift_smoothing": (0.0, 2.0),
    "stride_smoothing": (0.0, 2.0),
    "stride_scale": (0.0, 1.0),
    "shorter": (0.0, 1.0),
    "inside_one": (0.0, 1.0),
    "inside_two": (0.0, 1.0),
    "lower": (0.0, 1.0),
    "extra_lower": (0.0, 1.0),
}


@dataclass(frozen=True)
class Settings:
    """How a reference is conditioned; numbers outside ``RANGES`` are refused.

    Attributes:
        rate: Ticks per second [Hz].
        lookahead: How much of the reference is known beyond the instant that is produced [s].
        smoothing: Width of the window that takes noise out of the reference, to either side at most [s].
        com_smoothing: The same for the centre of mass [s].
        drift_smoothing: Standard deviation of the window under which floating feet count as ground [s].
        stride_smoothing: Standard deviation of the window that makes a path of the base [s].
        stride_scale: Share of the way that is gone; where None, as much as the legs are long enough for.
        shorter: What is taken off that share.
        inside_one: Share of one sole that the zero-moment point keeps to.
        inside_two: Share of the area of both.
        lower: How far the pelvis is lowered where legs are straight, in lengths of the leg; zero for never.
        extra_lower: How far it is lowered anyway [m].
        balance: Whether the centre of mass follows the bounded pendulum, or the clip as it is; for controls that must fail.
        repair_height: Whether floating feet are put on the ground.
        split_slides: Whether a standing foot that slides makes a small step instead.
        flights: Whether short flights from both soles to both are made; where not, they are replaced by standing.
        toe_roll: Whether soles roll over their front edge before lift-off; strides are then longer.
        heels: Whether they come down on their rear edge as well, where soles roll at all.
        gate: Whether time may stop before a foot is lifted until the robot is balanced on the other one.
        paced: Whether a stream runs up to a tenth faster where samples have piled up, and slower where they come too slowly.
    """

    rate: float = 200.0
    lookahead: float = 0.8
    smoothing: float = 0.1
    com_smoothing: float = 0.15
    drift_smoothing: float = 0.08
    stride_smoothing: float = 0.2
    stride_scale: float | None = None
    shorter: float = 0.0
    inside_one: float = 0.4
    inside_two: float = 0.7
    lower: float = 0.045
    extra_lower: float = 0.0
    balance: bool = True
    repair_height: bool = True
    split_slides: bool = True
    flights: bool = False
    toe_roll: bool = False
    heels: bool = False
    gate: bool = True
    paced: bool = True

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if value is None and name == "stride_scale":
                continue
            if not (isinstance(value, REAL) and least <= value <= most):
                raise ShapeError(name, repr(value), f"a number from {least:g} to {most:g}")
        if round(self.lookahead * self.rate) < 1:
            raise ShapeError(
                "lookahead", repr(self.lookahead), f"at least one tick of {self.dt:g} s"
            )

    @property
    def dt(self) -> float:
        """Time between two ticks [s]."""
        return 1.0 / self.rate


@dataclass(frozen=True)
class FeasibilityScales:
    """Scales of the feasibility score of a motion.

    Attributes:
        distance: Distance of the zero-moment point outside the stance feet that counts as one [m].
        position: Distance of a joint beyond its limit that counts as one [rad or m].
        least_load: Load that friction is related to at least, over the weight [-].
        worst: Quantile of the frames that stands for the worst of them [-].
    """

    distance: float = 0.05
    position: float = 0.1
    least_load: float = 0.05
    worst: float = 0.05


@dataclass(frozen=True)
class PieceSettings:
    """Pieces that long clips of a data set are cut into.

    Attributes:
        longest: Longest clip that stays whole [s].
        latest: Share of that length after which the quietest instant is looked for [-].
    """

    longest: float = 60.0
    latest: float = 0.7
