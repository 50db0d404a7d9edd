# SPDX-License-Identifier: Apache-2.0
"""What a page shows and what its user may do with it, whether the robot lives in our world, in a record or on topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.viewer.bodies import Body
from humanoid_dynamics.viewer.picture import Picture

Sample = tuple[
    float, Mapping[str, float], Mapping[str, float]
]  # time [s], named numbers, torques by motor


@dataclass(frozen=True, eq=False)
class Offer:
    """What the user may do.

    Attributes:
        title: What is shown, in a sentence.
        scenes: Scenes to choose from; the first is shown now.
        rules: Rules to choose from; the first is used now.
        frames: Frames that can be led, with their poses at the start.
        connections: Connections, and whether they are closed now.
        pushable: Whether links can be pulled.
        length: Length of a record that can be scrubbed [s]; None for what happens now.
        still: Corners of what stands still, as lines (k, 2, 3) [m].
        floor: Height of the floor [m]; None where there is none.
        events: Whether the scene has events of its own that can be played.
        heading: Where a snake goes now [rad]; None where nothing can be steered.
        motors: Motors whose torques are told.
        strength: The strongest pull at first, and the strongest that may be asked for [N]; None where pulls have no limit of their own.
        weight: Weight of the robot, which the scales of plots are measured by [N].
    """

    title: str
    scenes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    frames: Mapping[str, pin.SE3] = field(default_factory=dict)
    connections: Mapping[str, bool] = field(default_factory=dict)
    pushable: bool = False
    length: float | None = None
    still: Matrix | None = None
    floor: float | None = 0.0
    events: bool = False
    heading: float | None = None
    motors: tuple[str, ...] = ()
    strength: tuple[float, float] | None = None
    weight: float = 0.0


class Session:
    """A robot somewhere, to be looked at and touched; what a kind of session does not offer it refuses.

    The page calls all of this from one thread, and shows the text of every ``HumanoidDynamicsError``.

    Attributes:
        bodies: What is drawn; another tuple where there is another robot.
        course: Samples of a whole record for the plots; empty for what happens now.
        offer: What the user may do; a new value where it has changed.
    """

    bodies: tuple[Body, ...] = ()
    course: Sequence[Sample] = ()
    offer: Offer = Offer("")

    def prepare(self) -> None:
        """Compile what the first pictures need, where it is not yet."""

    def advance(self, seconds: float) -> None:
        """Let time go on by as much as passed outside [s]."""
        raise NotImplementedError

    def picture(self) -> Picture:
        """Return how things are now."""
        raise NotImplementedError

    def pull(self, body: str, point: Vector, force: Vector) -> None:
        """Pull a body at a point (3,) of its link [m] with a force (3,) in the world [N], until told otherwise; zero lets go."""
        raise HumanoidDynamicsError(f"{body} cannot be pulled here, at {point} with {force}")

    def limit_pull(self, force: float) -> None:
        """Let no pull be stronger than a force [N]."""
        raise HumanoidDynamicsError(f"nothing can be pulled here, with {force:g} N or less")

    def lead(self, frame: str, X_WF: pin.SE3) -> None:
        """Ask a frame to go somewhere."""
        raise HumanoidDynamicsError(f"{frame} cannot be led here, to {X_WF.translation}")

    def switch(self, connection: str, closed: bool) -> None:
        """Close or open a connection."""
        raise HumanoidDynamicsError(
            f"{connection} cannot be {'closed' if closed else 'opened'} here"
        )

    def choose_rule(self, rule: str) -> None:
        """Use another rule."""
        raise HumanoidDynamicsError(f"no rule can be chosen here, received {rule!r}")

    def choose_scene(self, scene: str) -> None:
        """Show another scene."""
        raise HumanoidDynamicsError(f"no scene can be chosen here, received {scene!r}")

    def play_events(self) -> None:
        """Play the events of the scene, from now on."""
        raise HumanoidDynamicsError("there are no events to play here")

    def steer(self, heading: float) -> None:
        """Let a snake go another way, angle from the x axis of the world [rad]."""
        raise HumanoidDynamicsError(f"nothing can be steered here, to {heading:.2f} rad")

    def pause(self, paused: bool) -> None:
        """Stop the time, or let it go on."""
        raise HumanoidDynamicsError(f"time cannot be {'stopped' if paused else 'started'} here")

    def step(self) -> None:
        """Take one step while paused."""
        raise HumanoidDynamicsError("no single step can be taken here")

    def reset(self) -> None:
        """Begin again."""
        raise HumanoidDynamicsError("nothing can begin again here")

    def seek(self, t: float) -> None:
        """Go to a time of a record [s]."""
        raise HumanoidDynamicsError(f"what happens now cannot go to {t:.2f} s")
