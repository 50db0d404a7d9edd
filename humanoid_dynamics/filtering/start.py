"""Where the filter starts: standing as the first target wants it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_body, find_soles
from humanoid_dynamics.motion.inverse_kinematics import COM, InverseKinematics, Task
from humanoid_dynamics.spatial.arrays import Vector

UPRIGHT, REST = 3.0, 0.3  # weights of the base's orientation and of the joints of the target, per radian
SAME = 1e-12
MOST = 60  # iterations of a search
REACHED = 1e-6  # m or rad
LOWERINGS, LOWERING = 12, 0.01  # times, m


def place_robot(robot: RobotModel, target: Target, *, keep_limits: bool = True) -> Vector:
    """Return the configuration nearest to a target that stands on its soles, with the centre of mass where it should be.

    Args:
        robot: The robot.
        target: What is wanted.
        keep_limits: Whether joints stay inside their position limits.

    Returns:
        (nq,) configuration.
    """
    soles = find_soles(robot)
    base = find_body(robot).pelvis
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, target.q)
    tasks = [Task("com", COM, place=1.0, hard=True)]
    tasks += [Task(sole.name, sole.frame, place=1.0, turn=1.0, hard=True) for sole in soles]
    tasks.append(Task("base", base, turn=UPRIGHT))
    weight = np.full(robot.nv, REST)
    weight[:BASE] = 0.0
    search = InverseKinematics(robot, tasks, weight, keep_limits=keep_limits)
    places = np.vstack((target.com, target.sole_place, np.zeros(3)))
    turns = np.array([np.eye(3), *target.sole_turn, data.oMf[base].rotation])
    if _is_there(robot, target, soles[0].frame, soles[1].frame):
        return np.array(target.q)
    found = search.solve(target.q, places, turns, rest=target.q, most=MOST)
    for _ in range(LOWERINGS):  # legs that do not reach: lower down
        if found.hard_error < REACHED:
            break
        places[0, 2] -= LOWERING
        found = search.solve(target.q, places, turns, rest=target.q, most=MOST)
    return np.array(found.q)


def _is_there(robot: RobotModel, target: Target, left: int, right: int) -> bool:
    """Whether the target's own configuration already is what is looked for."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, target.q)
    com = pin.centerOfMass(robot.model, data, target.q)
    misses = [com - target.com]
    for foot, frame in enumerate((left, right)):
        misses += [data.oMf[frame].translation - target.sole_place[foot], (data.oMf[frame].rotation - target.sole_turn[foot]).ravel()]
    return bool(np.max(np.abs(np.concatenate(misses))) < SAME)
