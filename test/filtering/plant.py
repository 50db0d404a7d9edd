"""MuJoCo as the robot under the filter: pure torque motors, four corner spheres per sole, a Coulomb coefficient of 0.8."""

from dataclasses import dataclass

import mujoco
import numpy as np
import pinocchio as pin

from humanoid_dynamics.benchmarks.mujoco_step import build_model
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.ticks.tick import TickSettings

FRICTION, STEP = 0.8, 1e-3
SUNK = 8e-4  # m; how deep soles that bear the robot are in the soft ground of MuJoCo
EFFORT_SLACK = 1e-9
SOFT = 0.005  # m; soft ground gives way under the edge of a sole


@dataclass(frozen=True)
class Noise:
    """Standard deviations of what is measured: place [m], turn [rad], joints [rad], velocity [m/s], rates [rad/s]."""

    place: float = 1e-3
    turn: float = np.deg2rad(0.2)
    joints: float = 1e-3
    velocity: float = 5e-3
    rates: float = 0.02


class Plant:
    """A robot in MuJoCo, seen in our coordinates."""

    def __init__(self, robot):
        self.robot = robot
        self.model = build_model(mujoco, robot)
        self.model.opt.timestep = STEP
        self.model.geom_friction[:, 0] = FRICTION
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(joint.name).id for joint in robot.joints[1:]]
        self._q, self._v = self.model.jnt_qposadr[joints], self.model.jnt_dofadr[joints]
        self._effort = robot.limits.effort[6:] + EFFORT_SLACK

    def place(self, q, v):
        data = self.data
        R = pin.Quaternion(q[3:7]).matrix()
        data.qpos[:7] = (*q[:2], q[2] - SUNK, q[6], *q[3:6])
        data.qpos[self._q], data.qvel[self._v] = q[7:], v[6:]
        data.qvel[:3], data.qvel[3:6] = R @ v[:3], v[3:6]
        mujoco.mj_forward(self.model, data)

    def state(self):
        data = self.data
        w, x, y, z = data.qpos[3:7]
        q = np.concatenate((data.qpos[:3], [x, y, z, w], data.qpos[self._q]))
        q[3:7] /= np.linalg.norm(q[3:7])
        R = pin.Quaternion(q[3:7]).matrix()
        return q, np.concatenate((R.T @ data.qvel[:3], data.qvel[3:6], data.qvel[self._v]))

    def drive(self, tau, count, push=None):
        data = self.data
        data.qfrc_applied[:] = 0.0
        data.qfrc_applied[self._v] = np.clip(tau, -self._effort, self._effort)
        if push is not None:
            data.qfrc_applied[:3] += push
        for _ in range(count):
            mujoco.mj_step(self.model, data)


def measure(robot, state, noise, rng):
    """Return a state as sensors see it."""
    q, v = state
    if noise is None:
        return q, v
    error = rng.normal(size=robot.nv) * np.concatenate(([noise.place] * 3, [noise.turn] * 3, np.full(robot.nv - 6, noise.joints)))
    rates = rng.normal(size=robot.nv) * np.concatenate(([noise.velocity] * 3, np.full(robot.nv - 3, noise.rates)))
    return pin.integrate(robot.model, q, error), v + rates


def run_closed_loop(robot, samples, *, seed=None, settings=None, tick=None, push=None):
    """Let the filter drive the robot of MuJoCo with torques alone, from the measured state.

    Returns the time of the fall or None, the frames, and the states of the robot.
    """
    flow = DynamicsFilter(robot, settings=settings, tick=tick or TickSettings(inside=SOFT))
    plant, rng = Plant(robot), np.random.default_rng(seed)
    noise = None if seed is None else Noise()
    count = round(flow.settings.dt / STEP)
    frames, states = [], []

    def advance():
        while True:
            measured = measure(robot, plant.state(), noise, rng) if frames else None
            frame = flow.tick(measured)
            if frame is None:
                return True
            if not frames:
                plant.place(frame.q, frame.v)
            plant.drive(frame.tau, count, None if push is None else push(frame.time))
            frames.append(frame)
            states.append(plant.state())
            if has_fallen(states[-1][0], flow.proportions.pelvis):
                return False

    for time, q in samples:
        flow.push(time, q)
        if not advance():
            return frames[-1].time, frames, states
    flow.finish()
    fell = None if advance() else frames[-1].time
    return fell, frames, states
