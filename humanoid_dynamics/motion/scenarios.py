# SPDX-License-Identifier: Apache-2.0
"""Small motions any robot on two soles can do: squat, reach, shift the load, lift a foot and put it down.

A scenario is a table of moments.  Between two of them centre of mass, soles and hands go on quintics; all joints follow by inverse
kinematics.
Load passes between the soles as the table says, with quintics too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pinocchio as pin

from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.errors import UnknownNameError, UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import SIDES, Body, find_body
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.inverse_kinematics import COM, InverseKinematics, Task
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.spatial.arrays import Matrix, Vector

RATE = 50.0  # Hz
CUTOFF = 3.0  # Hz; of the low-pass
MISS = 5e-3  # m or rad; more than this of soles and centre of mass is a miss
HAND, UPRIGHT = 10.0, 3.0  # weights per metre and radian
LIMB_REST, OTHER_REST = 0.05, 1.0  # weights of joints where they rest, per radian
FOREVER = np.inf


@dataclass(frozen=True)
class Moment:
    """Where things are at a time; lengths are shares of the height of the centre of mass over the soles.

    Attributes:
        t: When [s].
        over: Where the centre of mass is: -1 over the right sole, 0 between, 1 over the left sole [-].
        lower: How far it is lowered [-].
        lift: How far the right sole is lifted [-].
        reach: How far both hands are ahead of where they rest [-].
        rise: How far they are above it [-].
    """

    t: float
    over: float = 0.0
    lower: float = 0.0
    lift: float = 0.0
    reach: float = 0.0
    rise: float = 0.0


@dataclass(frozen=True)
class Script:
    """A scenario before it meets a robot.

    Attributes:
        title: What happens.
        moments: The table.
        unload: When the right sole begins to give its load away, is free, touches down again, and is loaded [s]; empty where it stays.
    """

    title: str
    moments: tuple[Moment, ...]
    unload: tuple[float, ...] = ()


SCRIPTS: Mapping[str, Script] = MappingProxyType(
    {
        "stand": Script("stands still", (Moment(0.0), Moment(1.0))),
        "squat": Script(
            "goes down and comes up again",
            (Moment(0.0), Moment(1.5, lower=0.08), Moment(2.0, lower=0.08), Moment(3.5)),
        ),
        "reach": Script(
            "reaches forwards and upwards with both hands",
            (
                Moment(0.0),
                Moment(1.5, reach=0.25, rise=0.2),
                Moment(2.0, reach=0.25, rise=0.2),
                Moment(3.5),
            ),
        ),
        "shift": Script(
            "shifts its weight from foot to foot",
            (Moment(0.0), Moment(1.5, over=0.5), Moment(3.5, over=-0.5), Moment(5.0)),
        ),
        "step": Script(
            "shifts its load to the left foot, lifts the right one and puts it down",
            (
                Moment(0.0),
                Moment(1.6, over=1.0, lower=0.015),
                Moment(2.2, over=1.0, lower=0.015),
                Moment(2.8, over=1.0, lower=0.015, lift=0.035),
                Moment(3.2, over=1.0, lower=0.015, lift=0.035),
                Moment(3.8, over=1.0, lower=0.015),
                Moment(4.4, over=1.0, lower=0.015),
                Moment(6.0),
            ),
            (1.7, 2.2, 3.8, 4.3),
        ),
    }
)


@dataclass(frozen=True, eq=False)
class Scenario:
    """A motion and when which sole bears how much.

    Attributes:
        name: Its name.
        clip: The motion, with velocities and accelerations.
        schedule: The load of each sole over time.
        miss: Largest miss of soles and centre of mass [m or rad].
    """

    name: str
    clip: Clip = field(repr=False)
    schedule: ContactSchedule = field(repr=False)
    miss: float


def build_scenario(robot: RobotModel, name: str) -> Scenario:
    """Make a robot do a scenario.

    Args:
        robot: A robot that stands on two soles.
        name: One of ``SCRIPTS``.

    Returns:
        The scenario, from the resting posture back to it.

    Raises:
        UnknownNameError: If there is no such scenario.
        UnsupportedRobotError: If the robot does not stand on two soles, or cannot reach what is asked.
    """
    if name not in SCRIPTS:
        raise UnknownNameError("scenario", name, SCRIPTS)
    script, body = SCRIPTS[name], find_body(robot)
    times = np.arange(round(script.moments[-1].t * RATE) + 1) / RATE
    search = _Search(robot, body, any(m.reach or m.rise for m in script.moments))
    found = [search.find(_interpolate(script.moments, t)) for t in times]
    miss = max(one for _, one in found)
    if miss > MISS:
        raise UnsupportedRobotError(
            f"scenario {name}",
            [robot.name],
            f"soles or centre of mass are missed by {miss:.3f} m or rad by",
        )
    # Where a joint comes to its limit others take over at once: smoothed, no motor has to.
    clip = differentiate(
        Clip(robot, times, np.array([one for one, _ in found]), origin=f"{name} of {robot.name}"),
        CUTOFF,
    )
    left, right = (sole.name for sole in body.soles)
    return Scenario(name, clip, _schedule(left, right, script.unload), miss)


class _Search:
    """Joints for a moment, each from those of the moment before."""

    def __init__(self, robot: RobotModel, body: Body, reaches: bool) -> None:
        self._robot, data = robot, robot.data()
        pin.framesForwardKinematics(robot.model, data, robot.posture)
        soles = body.soles
        hands = [
            body.points[f"{side}_hand"]
            for side in SIDES
            if reaches and f"{side}_hand" in body.points
        ]
        tasks = [Task("com", COM, place=1.0, hard=True)]
        tasks += [Task(sole.name, sole.frame, place=1.0, turn=1.0, hard=True) for sole in soles]
        tasks.append(Task("pelvis", body.pelvis, turn=UPRIGHT))
        tasks += [Task(hand.name, hand.frame, p_F=np.array(hand.p_F), place=HAND) for hand in hands]
        ends = [*(sole.frame for sole in soles), *(hand.frame for hand in hands)]
        limbs = {
            int(i)
            for frame in ends
            for i in robot.model.supports[robot.model.frames[frame].parentJoint]
        }
        chest = (
            set()
            if body.chest is None
            else set(map(int, robot.model.supports[robot.model.frames[body.chest].parentJoint]))
        )
        weight = np.full(robot.nv, OTHER_REST)
        for joint in robot.joints:
            if joint.index in limbs - chest:
                weight[joint.v] = LIMB_REST
        weight[:6] = 0.0
        self._search = InverseKinematics(robot, tasks, weight)
        self._places: Matrix = np.zeros((len(tasks), 3))
        self._turns: Matrix = np.tile(np.eye(3), (len(tasks), 1, 1))
        for k, task in enumerate(tasks):
            if task.frame != COM:
                X = data.oMf[task.frame]
                self._places[k], self._turns[k] = X.act(task.p_F), X.rotation
        self._places[0] = pin.centerOfMass(robot.model, data, robot.posture)
        self._middles = [data.oMf[sole.frame].act(sole.vertices.mean(axis=0)) for sole in soles]
        self._height = float(self._places[0][2] - np.mean([p[2] for p in self._middles]))
        self._q: Vector = robot.posture

    def find(self, moment: Moment) -> tuple[Vector, float]:
        """Return the configuration, and the miss of what must be met."""
        places = self._places.copy()
        towards = self._middles[0] if moment.over >= 0.0 else self._middles[1]
        places[0][:2] += abs(moment.over) * (towards - places[0])[:2]
        places[0][2] -= moment.lower * self._height
        places[2][2] += moment.lift * self._height
        moved = places[0] - self._places[0]
        places[4:] += moved + self._height * np.array([moment.reach, 0.0, moment.rise])
        found = self._search.solve(self._q, places, self._turns, tolerance=1e-8, most=25)
        self._q = found.q
        return found.q, found.hard_error


def _interpolate(moments: tuple[Moment, ...], t: float) -> Moment:
    """Return where things are between two moments of the table."""
    for before, after in pairwise(moments):
        if t <= after.t:
            s = float(quintic((t - before.t) / (after.t - before.t)))
            mean = {
                name: (1.0 - s) * getattr(before, name) + s * getattr(after, name)
                for name in ("over", "lower", "lift", "reach", "rise")
            }
            return Moment(t, **mean)
    return moments[-1]


def _schedule(left: str, right: str, unload: tuple[float, ...]) -> ContactSchedule:
    stays = ContactInterval(left, -FOREVER, FOREVER, 0.0, 0.0)
    if not unload:
        return ContactSchedule.of((stays, ContactInterval(right, -FOREVER, FOREVER, 0.0, 0.0)))
    begin, free, touch, full = unload
    first = ContactInterval(right, -FOREVER, free, 0.0, free - begin)
    return ContactSchedule.of(
        (stays, first, ContactInterval(right, touch, FOREVER, full - touch, 0.0))
    )
