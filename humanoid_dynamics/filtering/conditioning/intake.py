# SPDX-License-Identifier: Apache-2.0
"""The door of the stream: samples as they come, at any rate and of any quality, to samples one can go on with."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.bridging import GapInterpolator
from humanoid_dynamics.filtering.conditioning.doubts import LOUD, NOISY
from humanoid_dynamics.filtering.conditioning.leash import Leash
from humanoid_dynamics.filtering.conditioning.origin import ReferenceOrigin, carry, heading_between
from humanoid_dynamics.filtering.conditioning.posture_bound import PostureBound
from humanoid_dynamics.filtering.conditioning.rejoining import SMALLEST, TransitionBlender
from humanoid_dynamics.filtering.conditioning.sample_clock import SampleStatus
from humanoid_dynamics.filtering.conditioning.sight import InputObserver
from humanoid_dynamics.filtering.measured import read_number
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

BASE = 6
HOLD_STEP, LONGEST_HOLD = 0.02, 1.5  # s; between samples that are held, and how long at a time
JUMP = 0.15  # m; beyond what the base can run, a longer way from sample to sample is another place, and the stream goes on where it was
TURNED = 1.0  # rad; likewise for the heading
TURN = slice(3, 7)  # the quaternion of a base
FASTEST_BASE = (4.0, 12.0)  # m/s and rad/s
FASTEST_JOINT = 30.0  # rad/s, where the robot sets no limit
LONGEST_GAP = 0.5  # s; after a longer silence time does not wait for what was missed
AGREED = 3  # samples that agree with each other; before as many have come a stream that is all noise tells nothing
REMEMBERED = 0.3  # weight of a new sample in what is known about noise


class InputStage:
    """Accept samples one by one; what cannot be used is left out and told, what jumps is made to run.

    A new place or heading from one sample to the next is taken as a new origin of the reference, not as a motion.  Where the whole posture
    jumps, had frozen or is nothing but noise, the reference is held, and led back to as soon as samples agree with each other.  A single
    coordinate that jumps follows as fast as the robot can.  Where a bound of postures is given, samples that cannot be balanced are led
    toward the resting posture, and those that lean or sink too fast are held and led back to as well.  Where a leash is given, place and
    heading of what slides without steps come later.

    Attributes:
        sight: What is seen of samples before they are accepted.
        time: The instant of the sample to go on with [s].
        q: (nq,) that sample; None before the first one.
    """

    def __init__(
        self,
        robot: RobotModel,
        *,
        keep_limits: bool = True,
        bound: PostureBound | None = None,
        leash: Leash | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            keep_limits: Whether samples are moved into the position and speed limits of joints.
            bound: What postures may ask; none where None.
            leash: What holds soles back that slide; none where None.
        """
        self._bound, self._leash = bound, leash
        self._model = robot.model
        known = np.isfinite(robot.limits.velocity) & keep_limits
        speed = np.where(known, robot.limits.velocity, FASTEST_JOINT)
        speed[:3], speed[3:BASE] = FASTEST_BASE
        self._speed = np.maximum(speed, 1e-3)
        self._lower, self._upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
        self._lower[:7], self._upper[:7] = -np.inf, np.inf
        if not keep_limits:
            self._lower[:], self._upper[:] = -np.inf, np.inf
        self._rejoining, self.sight = (
            TransitionBlender(robot, self._speed),
            InputObserver(robot, self._speed),
        )
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self.time = -np.inf
        self.q: Vector | None = None
        self.sight.restart()
        self._free: Vector = np.zeros(0)  # that sample, not held back
        self._given: Vector | None = None
        self._origin = ReferenceOrigin()
        self._rejoining.restart()
        if self._bound is not None:
            self._bound.restart()
        if self._leash is not None:
            self._leash.restart()
        self._lost = (
            False  # whether the stream is to be led back to, whatever the sample that comes
        )
        self._raw: Vector | None = None
        self._last_rate: Vector | None = None
        self._noise, self._agreed = 0.0, 0
        self._rest: Vector | None = None  # held until samples agree
        self._waits_at: Vector | None = None  # held until a robot that fell is back on its feet

    def take(self, time: float, q: Vector) -> SampleStatus:
        """Take one sample; afterwards ``time`` and ``q`` are the sample to go on with.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.

        Returns:
            Whether it is followed, and how, or why it was rejected.
        """
        return self.see(time, q) or self.accept()

    def see(self, time: float, q: Vector) -> SampleStatus | None:
        """Look at one sample; return why it is left out, and None where it is to be accepted.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.
        """
        return self.sight.see(time, q, None if self.q is None else self.time)

    def doubt(self) -> bool:
        """Return whether the sample that was seen has nothing to do with those before, or too few have come since that agree."""
        sight = self.sight
        return (
            sight.doubts.look(sight.due, sight.q, sight.q if self.q is None else self._free)
            and self.follows
        )

    def accept(self) -> SampleStatus:
        """Take the sample that was seen; return what became of it, see ``take``."""
        self._lost = self._lost or self.sight.doubts.jumped
        self.sight.doubts.settle()
        self._given = self.sight.q
        return self._accept(self.sight.due, np.array(self._given))

    @property
    def follows(self) -> bool:
        """Whether samples are known by now, and followed: no posture is held instead."""
        return self._agreed >= AGREED and self._waits_at is None and self._rest is None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the sample that was seen is at another place, or turned elsewhere, than can have been come to."""
        return self._is_far(
            self._free,
            self._origin.place(self.sight.q),
            min(self.sight.due - self.time, LONGEST_GAP),
        )

    @property
    def is_near(self) -> bool:
        """Whether the sample that was seen is where one is."""
        way = pin.difference(self._model, self._free, self._origin.place(self._let_stand()))
        return float(np.max(np.abs(way))) < SMALLEST

    def go_back(self, time: float, q: Vector) -> None:
        """Go on from an earlier posture.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.
        """
        if self._leash is not None:
            if self._leash.holds:
                self._origin.move(
                    self._leash.let_go()
                )  # where it was held is taken for where it was
            self._leash.restart()
        if self._bound is not None:
            self._bound.restart()
        self._rejoining.restart()
        self._raw = self._last_rate = None
        self.sight.doubts.settle()
        self.time, self._free, self.q = time, q, q

    def bridge(
        self, bridge: GapInterpolator, before: tuple[float, Vector] | None
    ) -> list[tuple[float, Vector]]:
        """Lead to the sample that was seen; return postures on the way, with their instants.

        Args:
            bridge: What leads.
            before: How long ago one was where [s], (nq,), where motion goes on; None where it comes to rest and sets out again, wherever
                the reference is by now.
        """
        start, q, sample = self.time, self._free, self._let_stand()
        if before is None:
            self._origin.move(bridge.move(q, self._origin.place(sample)))
            way = bridge.lead(q, self._origin.place(sample), self.sight.due - start)
        else:
            way = bridge.go_on(
                before[1], q, self._origin.place(sample), (before[0], self.sight.due - start)
            )
        way = [(start + time, each) for time, each in way]
        self.time, self._free = way[-1]
        self.q = self._free
        return way

    def _let_stand(self) -> Vector:
        """Return the sample that was seen inside its limits, such that it can be balanced."""
        sample = np.array(self.sight.q)
        self._let_in(sample)
        return self._bound.lead(sample)[0] if self._bound else sample

    def _let_in(self, sample: Vector) -> None:
        """Give the quaternion of a sample unit length, and move it into its limits, in place."""
        sample[TURN] /= math.sqrt(sample[TURN] @ sample[TURN])
        np.minimum(np.maximum(sample, self._lower, out=sample), self._upper, out=sample)

    def wait(self, time: float, *, missed: bool = False) -> bool:
        """Go on for some time with the last sample as it came; return whether there is one.

        Args:
            time: For how long [s].
            missed: Whether samples should have come.
        """
        if self._given is None:
            return False
        self._accept(
            self.sight.clock.wait_until(self.time + time, missed=missed), np.array(self._given)
        )
        return True

    def _accept(self, time: float, sample: Vector) -> SampleStatus:
        """Take a sample that is one; return what became of it."""
        self._let_in(sample)
        sample, led = self._bound.lead(sample) if self._bound else (sample, False)
        if self.q is None:
            return self._settle(
                time, sample, 0.0, SampleStatus.CLAMPED_POSTURE if led else SampleStatus.OK
            )
        gap = min(time - self.time, LONGEST_GAP)
        sample, share, status = self._join(sample, gap)
        status = SampleStatus.CLAMPED_POSTURE if led and status is SampleStatus.OK else status
        step = pin.difference(self._model, self._free, sample)
        if share < 1.0:
            step, status = share * step, SampleStatus.NOISY if status is SampleStatus.OK else status
            sample = pin.integrate(self._model, self._free, step)
        most = self._speed * gap
        if (np.abs(step) > most).any():
            step = np.clip(step, -most, most)
            sample = pin.integrate(self._model, self._free, step)
            status = SampleStatus.VELOCITY_LIMITED if status is SampleStatus.OK else status
        status = self._settle(time, sample, gap, status)
        return SampleStatus.CLOCK_RESYNC if self.sight.clock.changed else status

    def _settle(
        self, time: float, sample: Vector, gap: float, status: SampleStatus
    ) -> SampleStatus:
        """Go on with a sample, held back where it must be; return what became of it."""
        self.time, self._free = time, sample
        held = self._leash.hold(sample, gap) if self._leash else sample
        if self.q is not None and float(held[3:7] @ self.q[3:7]) < 0.0:
            held[3:7] *= -1.0
        self.q = held
        return (
            SampleStatus.SLIDE_LIMITED
            if self._leash and self._leash.holds and status is SampleStatus.OK
            else status
        )

    def _join(self, sample: Vector, gap: float) -> tuple[Vector, float, SampleStatus]:
        """Return where a sample leads to from where one is, what share of the step is taken, and what became of it."""
        given, sample, status = sample, self._origin.place(sample), SampleStatus.OK
        if self._jumps(sample, gap):
            sample, status = self._move_origin(given, sample), SampleStatus.BASE_JUMP
        share, wild = self._share_of(sample, gap)
        wild, self._lost = wild or self._lost, False
        runs = self._bound is not None and self._bound.runs(gap, led=self._rejoining.leads)
        if self._waits_at is not None:
            return self._rejoining.lead(self._waits_at, gap), 1.0, SampleStatus.RECOVERING
        rest, wild = self._rest_until_known(wild)
        if rest is not None:
            return self._rejoining.lead(rest, gap), 1.0, SampleStatus.POSTURE_JUMP
        if wild:
            sample = self._raw = self._move_origin(given, sample)
        if (
            (wild or runs)
            and self._rejoining.begin(
                self._free,
                sample,
                self._bound.time_between(self._free, sample) if self._bound else 0.0,
            )
            and status is SampleStatus.OK
        ):
            status = SampleStatus.POSTURE_JUMP if wild else SampleStatus.CLAMPED_POSTURE
        return self._rejoining.lead(sample, gap), share, status

    def wait_standing(self) -> None:
        """Lead the reference to the resting posture where it is, and hold it there, until ``go_on``."""
        if self._waits_at is None and self._bound is not None and self.q is not None:
            self._waits_at = self._bound.rest_at(self._free)
            self._rejoining.begin(
                self._free, self._waits_at, self._bound.time_between(self._free, self._waits_at)
            )

    def go_on(self) -> None:
        """Follow samples again, from where the reference was held."""
        if self._waits_at is not None and self._bound is not None and self._given is not None:
            self._waits_at = None
            sample = self._raw = self._move_origin(self._given, self._origin.place(self._given))
            self._rejoining.begin(self._free, sample, self._bound.time_between(self._free, sample))

    def begin_at_rest(self) -> bool:
        """Begin in the posture that is held where the first samples do not agree, and not on the way to it; return whether one is.

        To be asked before anything was done with the samples.
        """
        if self._rest is None or not self._rejoining.leads:
            return False
        self._rejoining.restart()
        if self._leash is not None:
            self._leash.restart()
        self._settle(self.time, np.array(self._rest), 0.0, SampleStatus.POSTURE_JUMP)
        return True

    def _rest_until_known(self, wild: bool) -> tuple[Vector | None, bool]:
        """Return the posture that is held until samples agree where the first ones do not, and whether the stream is to be led back to."""
        if self._bound is None or self._agreed >= AGREED:
            return None, wild
        self._agreed = 0 if wild else self._agreed + 1
        if wild and self._rest is None:
            self._rest = self._bound.rest_at(self._free)
            self._rejoining.begin(
                self._free, self._rest, self._bound.time_between(self._free, self._rest)
            )
        if self._agreed < AGREED:
            return self._rest, wild
        lost, self._rest = self._rest is not None, None
        return None, wild or lost

    def _share_of(self, sample: Vector, gap: float) -> tuple[float, bool]:
        """Return what share of a step is taken, less where joints go to and fro; and whether that is all they do, or they jump."""
        raw, last = self._raw, self._last_rate
        self._raw, self._last_rate = np.array(sample), None
        if raw is None:
            return 1.0, False
        usual, change = NOISY[0] + NOISY[1] * gap * gap, 0.0
        rate = self._last_rate = pin.difference(self._model, raw, sample) / gap
        leaps = self._rejoining.jumps(rate, gap)
        if last is not None:
            change = float(np.abs(rate - last).sum()) / len(rate) * gap
            self._noise += REMEMBERED * (min(change, LOUD * usual) - self._noise)
        return min((usual / max(self._noise, 1e-9)) ** 2, 1.0), leaps or change > LOUD * usual

    def _jumps(self, sample: Vector, gap: float) -> bool:
        elsewhere = self._rejoining.leads or self._waits_at is not None
        last = self._raw if elsewhere else self._free  # what is led back is elsewhere for a while
        last = sample if last is None else last
        return self._is_far(last, sample, gap)

    def _is_far(self, last: Vector, sample: Vector, gap: float) -> bool:
        way, turn = math.dist(last[:3], sample[:3]), abs(heading_between(last, sample))
        return way > JUMP + FASTEST_BASE[0] * gap or turn > TURNED + FASTEST_BASE[1] * gap

    def _move_origin(self, given: Vector, sample: Vector) -> Vector:
        """Let the reference go on where it was; return the sample as it is then."""
        if (
            self._leash is not None and self._leash.holds
        ):  # where it is held is taken for where it is
            X = self._leash.let_go()
            self._origin.move(X)
            self._free, self._raw = (
                carry(X, self._free),
                None if self._raw is None else carry(X, self._raw),
            )
            sample = self._origin.place(given)
        self._origin.go_on_at(self._free if self.q is not None else sample, sample)
        return self._origin.place(given)


def steps_of_hold(duration: float) -> list[float]:
    """Return the times between samples while none comes [s].

    Args:
        duration: For how long they are to last [s].
    """
    given = read_number(duration)
    total = min(max(given, 0.0), LONGEST_HOLD) if math.isfinite(given) else 0.0
    count = math.ceil(total / HOLD_STEP - 1e-9)
    return [total / count] * count if count > 0 else []
