"""MuJoCo as the robot under the filter: pure torque motors, four corner spheres per sole, a Coulomb coefficient of 0.8."""

from dataclasses import dataclass

import mujoco
import numpy as np
import pinocchio as pin
from scipy.optimize import nnls

from benchmarks.mujoco_step import build_model
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.filtering.upright import upward_of
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.contact_detection import detect_contacts
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.resampling import resample

FRICTION, STEP = 0.8, 1e-3
CONTROL, HOLD = 0.005, 1.0  # s, twice
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

    def soften(self, damping):
        """Let motors damp; MuJoCo takes that implicitly: light joints would swing up otherwise."""
        self.model.dof_damping[self._v] = damping

    def drive(self, tau, count, push=None):
        """Go on with torques of the motors, their damping included, as far as they can."""
        data = self.data
        data.qfrc_applied[:] = 0.0
        damping = self.model.dof_damping[self._v] * data.qvel[self._v]
        data.qfrc_applied[self._v] = np.clip(tau - damping, -self._effort, self._effort) + damping
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
        while flow.ready:
            measured = measure(robot, plant.state(), noise, rng) if frames else None
            frame = flow.tick(measured)
            if not frames:
                plant.place(frame.q, frame.v)
            plant.drive(frame.tau, count, None if push is None else push(frame.time))
            frames.append(frame)
            states.append(plant.state())
            if has_fallen(states[-1][0], flow.proportions.pelvis, flow.proportions.up):
                return False
        return True

    for time, q in samples:
        flow.push(time, q)
        if not advance():
            return frames[-1].time, frames, states
    flow.finish()
    fell = None if advance() else frames[-1].time
    return fell, frames, states


STIFF = 0.004  # s; time constant of ground that gives way less
GAINS = {"hip": 100.0, "knee": 150.0, "ankle": 40.0}  # N·m/rad; all other joints as the ankle


def replay(robot, clip, stiffness, torques=None, stiff_ground=False):
    """Let the robot of MuJoCo follow a clip as it is: torques of inverse dynamics, and springs and dampers at the joints.

    Args:
        stiffness: How many times ``GAINS``; damping goes with its square root.
        torques: Those of a clip that has them at every tick, and stands still before and after; by inverse dynamics where None, and then
            it is held still before and after.
        stiff_ground: Whether the ground gives way twenty-five times less than MuJoCo's does by itself.

    Returns the time of the fall, or None.
    """
    if torques is None:
        moving, feed, hold = *_explain(robot, clip), round(HOLD / CONTROL)
    else:
        moving, feed, hold = clip, torques, 0
    joints = robot.joints[1:]
    kp = stiffness * np.array([next((gain for part, gain in GAINS.items() if part in joint.name), GAINS["ankle"]) for joint in joints])
    kd = 0.1 * kp / np.sqrt(stiffness)
    plant = Plant(robot)
    plant.soften(kd)
    if stiff_ground:
        plant.model.geom_solref[:, 0] = STIFF
    start = np.array(moving.q[0])
    start[2] -= min(_corners(robot, robot.data(), find_soles(robot), start)[:, 2])
    plant.place(start, np.zeros(robot.nv))
    for row in range(-hold, len(moving) + hold):
        k = min(max(row, 0), len(moving) - 1)
        still = 0.0 if row != k else 1.0
        for _ in range(round(CONTROL / STEP)):
            plant.drive(feed[k] + kp * (moving.q[k][7:] - plant.state()[0][7:]) + still * kd * moving.v[k][6:], 1)
        if has_fallen(plant.state()[0], start[2], upward_of(robot.posture)):
            return (row + hold) * CONTROL
    return None


def _explain(robot, clip):
    """Return a recorded motion at every tick, and torques that explain it as far as pushes of the ground can."""
    even = resample(clip, 1.0 / CONTROL)
    moving = differentiate(even.change(v=None, a=None), 6.0)
    labels, soles, data = detect_contacts(even).labels(even.times), find_soles(robot), robot.data()
    return moving, [_feed_forward(robot, data, soles, moving, row, [labels[s.name][row] for s in soles]) for row in range(len(moving))]


def _corners(robot, data, soles, q):
    pin.framesForwardKinematics(robot.model, data, q)
    return np.vstack([[data.oMf[sole.frame].act(corner) for corner in np.asarray(sole.vertices)] for sole in soles])


def _feed_forward(robot, data, soles, moving, row, stands):
    """Return the torques of a motion, with pushes of the ground at the corners of standing soles that explain as much of it as they can."""
    q, v, a = moving.q[row], moving.v[row], moving.a[row]
    tau = pin.rnea(robot.model, data, q, v, a)
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    columns = []
    for sole, stand in zip(soles, stands, strict=True):
        if not stand:
            continue
        J = pin.getFrameJacobian(robot.model, data, sole.frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        for corner in np.asarray(sole.vertices):
            arm = data.oMf[sole.frame].rotation @ corner
            at = J[:3] - pin.skew(arm) @ J[3:]
            columns += [at.T @ np.array((FRICTION * x, FRICTION * y, 1.0)) for x, y in ((0.7, 0), (-0.7, 0), (0, 0.7), (0, -0.7))]
    if not columns:
        return tau[6:]
    A = np.column_stack(columns)
    force, _ = nnls(A[:6], tau[:6], maxiter=1000)
    return (tau - A @ force)[6:]
