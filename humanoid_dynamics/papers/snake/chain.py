# SPDX-License-Identifier: Apache-2.0
"""What a snake is: n wheeled links in the plane, and the state they move through."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake.kane import Links
from humanoid_dynamics.papers.snake.unfolded import ChainRows, ChainSums, build_tables
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only

STANDARD_GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class SnakeModel:
    """A chain of n links, each with a passive wheel at its centre that rolls along the link and does not slip sideways [SN, sec. II].

    Link i has its centre of mass at its middle and ends at half length on either side.  Joint k turns link k + 1 against link k, and its
    torque acts with +T on link k + 1 and -T on link k.  Links point from link 1 to link n.

    Attributes:
        masses: (n,) [kg].
        inertias: (n,) about the centre of mass [kg·m²].
        half_lengths: (n,) distance from the centre of mass to either end [m].
        tables: The same numbers as the O(n) equations read them, (5, n-1) of links 2..n and (4,) of the whole chain.
    """

    masses: Vector
    inertias: Vector
    half_lengths: Vector
    tables: tuple[Matrix, Vector] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = np.size(self.masses)
        if n < 1:
            raise ShapeError("masses", "no link", "at least one link")
        for name in ("masses", "inertias", "half_lengths"):
            values = check_vector(name, getattr(self, name), n)
            if not (values > 0.0).all():
                bad = int(np.flatnonzero(values <= 0.0)[0])
                raise ShapeError(name, f"{values[bad]} at index {bad}", "positive numbers")
            object.__setattr__(self, name, read_only(values))
        object.__setattr__(
            self, "tables", build_tables(self.masses, self.inertias, self.half_lengths)
        )

    @classmethod
    def uniform(
        cls, n: int, mass: float = 1.0, inertia: float = 0.005, length: float = 0.2
    ) -> SnakeModel:
        """Return a snake of n equal links; the default link is the paper's [SN, tab. II].

        Args:
            n: Number of links.
            mass: Mass of a link [kg].
            inertia: Inertia of a link about its centre of mass [kg·m²].
            length: Length of a link [m].

        Returns:
            The snake.

        Raises:
            ShapeError: If there is no link or a number is not positive.
        """
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ShapeError("n", f"{n!r}", "a whole number, at least one link")
        return cls(np.full(n, mass), np.full(n, inertia), np.full(n, 0.5 * length))

    @property
    def n(self) -> int:
        """Number of links."""
        return self.masses.size

    @property
    def rows(self) -> ChainRows:
        """The first table with its names."""
        return ChainRows(*self.tables[0])

    @property
    def sums(self) -> ChainSums:
        """The second table with its names."""
        return ChainSums(*(float(entry) for entry in self.tables[1]))

    @property
    def links(self) -> Links:
        """The same numbers in the form the paper's equations read them."""
        return Links(self.masses, self.inertias, self.half_lengths)

    def check_torques(self, torques: ArrayLike) -> Vector:
        """Return joint torques as a finite vector.

        Args:
            torques: (n-1,) joint torques [N·m].

        Returns:
            (n-1,) the same.

        Raises:
            ShapeError: If there is not one finite number per joint.
        """
        return check_vector("torques", torques, self.n - 1)


@dataclass(frozen=True, eq=False)
class SnakeState:
    """Where a snake is and how it moves.  Two numbers are enough for the motion, whatever the number of links [SN, eq. 2].

    Attributes:
        theta: (n,) absolute angles of the links, from the world x axis [rad].
        u: (2,) generalized speeds: speed of link 1 along itself [m/s], angular velocity of link 1 [rad/s].
        position: (2,) centre of mass of link 1 [m] in the world.
    """

    theta: Vector
    u: Vector
    position: Vector = field(default_factory=lambda: np.zeros(2))

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "theta", read_only(check_vector("theta", self.theta, max(1, np.size(self.theta))))
        )
        object.__setattr__(self, "u", read_only(check_vector("u", self.u, 2)))
        object.__setattr__(self, "position", read_only(check_vector("position", self.position, 2)))

    @property
    def phi(self) -> Vector:
        """(n-1,) joint angles, link k + 1 against link k [rad]."""
        return np.diff(self.theta)


def check_state(model: SnakeModel, state: SnakeState) -> None:
    """Refuse a state of another snake.

    Args:
        model: The snake.
        state: A state.

    Raises:
        ShapeError: If the numbers of links differ.
    """
    if state.theta.size != model.n:
        raise ShapeError("state.theta", f"shape {state.theta.shape}", f"({model.n},)")


def compute_link_positions(model: SnakeModel, state: SnakeState) -> Vector:
    """Return the centres of mass of all links.

    Args:
        model: The snake.
        state: Its state.

    Returns:
        (n, 2) positions [m] in the world.
    """
    check_state(model, state)
    half = model.half_lengths[:, None] * np.column_stack((np.cos(state.theta), np.sin(state.theta)))
    steps = np.vstack((state.position[None, :], half[:-1] + half[1:]))
    return np.cumsum(steps, axis=0)
