# SPDX-License-Identifier: Apache-2.0
"""The other side of ``peers``: a script for another interpreter, which has a peer and numpy, but need not have this package.

A line of JSON says what to build; the answer is a line with its version, or why there is none.  Each further line asks for a tick at a
motion and is answered with how long it took [ns].
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from time import perf_counter_ns
from typing import Any

import numpy as np

Tick = Callable[[Any, Any], object]


def build_placo(order: dict[str, Any], path: str) -> Tick:
    """Return a tick of placo: soles on the ground, centre of mass, posture, torque limits.

    Args:
        order: What to build.
        path: URDF without meshes.
    """
    placo: Any = import_module("placo")
    robot = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
    check_joints(list(robot.model.names)[2:], order["joints"])
    robot.state.q = np.array(order["motions"][0][0])
    robot.update_kinematics()
    solver = placo.DynamicsSolver(robot)
    solver.dt = 1e-3
    solver.enable_torque_limits(True)
    for sole in order["soles"]:
        task = solver.add_frame_task(sole["link"], robot.get_T_world_frame(sole["link"]))
        task.configure(sole["link"], "soft", 1.0, 1.0)
        contact = solver.add_planar_contact(task)
        contact.length, contact.width, contact.mu = sole["length"], sole["width"], sole["friction"]
    solver.add_com_task(robot.com_world()).configure("com", "soft", 1.0)
    posture = solver.add_joints_task()
    posture.set_joints({name: robot.get_joint(name) for name in order["joints"]})
    posture.configure("posture", "soft", 1e-2)

    def tick(q: Any, v: Any) -> object:
        robot.state.q, robot.state.qd = q, v
        robot.update_kinematics()
        return solver.solve()

    return tick


def build_tsid(order: dict[str, Any], path: str) -> Tick:
    """Return a tick of TSID: soles on the ground, centre of mass, posture, torque limits.

    Args:
        order: What to build.
        path: URDF without meshes.
    """
    pin, tsid = import_module("pinocchio"), import_module("tsid")
    if not hasattr(tsid, "RobotWrapper"):  # the wheels of 1.7 have all that in a part of their own
        tsid = import_module("tsid.tsid_pywrap")
    robot = tsid.RobotWrapper(path, [os.path.dirname(path)], pin.JointModelFreeFlyer(), False)
    model = robot.model()
    check_joints(list(model.names)[2:], order["joints"])
    formulation = tsid.InverseDynamicsFormulationAccForce("tsid", robot, False)
    q, v = (np.array(part) for part in order["motions"][0])
    formulation.computeProblemData(0.0, q, v)
    data = formulation.data()
    contacts = []
    for sole in order["soles"]:
        x, y = sole["length"] / 2.0, sole["width"] / 2.0
        corners = np.array([[-x, -x, x, x], [-y, y, -y, y], [0.0] * 4])
        contact = tsid.Contact6d(
            sole["link"],
            robot,
            sole["link"],
            corners,
            np.array([0.0, 0.0, 1.0]),
            sole["friction"],
            1.0,
            1e4,
        )
        contact.setReference(robot.framePosition(data, model.getFrameId(sole["link"])))
        formulation.addRigidContact(contact, 1e-5)
        contacts.append(contact)
    com, posture = tsid.TaskComEquality("com", robot), tsid.TaskJointPosture("posture", robot)
    formulation.addMotionTask(com, 1.0, 1, 0.0)
    formulation.addMotionTask(posture, 1e-2, 1, 0.0)
    bounds = tsid.TaskActuationBounds("torques", robot)
    effort = np.array(model.effortLimit)[6:]
    bounds.setBounds(-effort, effort)
    formulation.addActuationTask(bounds, 1.0, 0, 0.0)
    com.setReference(tsid.TrajectoryEuclidianConstant("com", robot.com(data)).computeNext())
    posture.setReference(tsid.TrajectoryEuclidianConstant("posture", q[7:]).computeNext())
    solver = tsid.SolverHQuadProgFast("solver")
    solver.resize(formulation.nVar, formulation.nEq, formulation.nIn)
    alive = (robot, contacts, com, posture, bounds)  # the formulation only points at them

    def tick(q: Any, v: Any, _alive: object = alive) -> object:
        solution = solver.solve(formulation.computeProblemData(0.0, q, v))
        return formulation.getActuatorForces(solution)

    return tick


BUILDERS = {"placo": build_placo, "tsid": build_tsid}


def check_joints(theirs: list[str], ours: list[str]) -> None:
    """Refuse a robot that is read with other joints, or in another order.

    Args:
        theirs: Names of its joints.
        ours: Names of ours.

    Raises:
        ValueError: If they differ.
    """
    if theirs != ours:
        raise ValueError(f"the robot is read with joints {', '.join(theirs)}")


def main() -> None:
    """Serve one peer."""
    out, sys.stdout = sys.stdout, sys.stderr  # a peer may print what it likes
    order = json.loads(sys.stdin.readline())
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
            file.write(order["urdf"])
            file.flush()
            tick = BUILDERS[order["peer"]](order, file.name)
        told: dict[str, str] = {"version": version(order["peer"])}
    except ImportError as cause:
        told = {"problem": f"is in no --peer-python: {cause}"}
    except (ValueError, RuntimeError, AttributeError, TypeError) as cause:
        told = {"problem": f"does not take the robot: {cause}"}
    out.write(json.dumps(told) + "\n")
    out.flush()
    if "problem" in told:
        return
    motions = [tuple(np.array(part) for part in motion) for motion in order["motions"]]
    for line in sys.stdin:
        q, v = motions[int(line) % len(motions)]
        tick(q, v)  # whoever ran before has emptied the caches
        start = perf_counter_ns()
        tick(q, v)
        spent = perf_counter_ns() - start
        out.write(f"{spent}\n")
        out.flush()


if __name__ == "__main__":
    main()
