# SPDX-License-Identifier: Apache-2.0
"""Node ``state_estimator``: IMU, joint states and contact wrenches in; odometry and contact states out, at the stamps of the joint states."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.util import find_spec
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu

from humanoid_dynamics.control.measured import MeasuredState
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.estimation.base import BaseEstimator
from humanoid_dynamics.estimation.results import BaseEstimate
from humanoid_dynamics.estimation.settings import EstimatorSettings, EstimatorStatus
from humanoid_dynamics.nodes.adapter import Act, AdapterNode, Handler
from humanoid_dynamics.nodes.frames import FramePublisher
from humanoid_dynamics.nodes.messages import SECOND, write_joint_state, write_odometry
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.wire import Form, JointStateReader, NumbersReader, mark
from humanoid_dynamics.spatial.arrays import Vector

WORLD = "odom"
GYRO, ACC, IMU_SIZE = slice(13, 16), slice(25, 28), 37  # numbers of a sensor_msgs/Imu
INVALID = (float("nan"),) * 3
STALE = frozenset({EstimatorStatus.IMU_STALE, EstimatorStatus.JOINTS_STALE})


class StateEstimatorNode(AdapterNode):
    """Publishes an estimate for each joint state."""

    good = (
        EstimatorStatus.CALIBRATING,
        EstimatorStatus.RUNNING,
        EstimatorStatus.NO_CONTACT,
        EstimatorStatus.SLIPPING,
        EstimatorStatus.IMPACT,
    )
    failed = (
        EstimatorStatus.IMU_STALE,
        EstimatorStatus.JOINTS_STALE,
        EstimatorStatus.JOINTS_FROZEN,
    )
    raw = ("imu", "joint_states", "contact_wrenches/<surface>")

    def __init__(self, **keywords: Any) -> None:
        super().__init__("state_estimator", **keywords)
        self._estimator: BaseEstimator | None = None
        self._latest: BaseEstimate | None = None
        self._counts = {"imu samples": 0, "joint samples": 0, "estimates": 0}

    def prepare(self) -> None:
        """Make the estimator and the messages."""
        robot, config = self.robot, self.config
        if robot is None:
            return
        if config.imu not in robot.imus:
            raise UnknownNameError("IMU", config.imu, robot.imus)
        imu = robot.imus[config.imu]
        self._estimator = BaseEstimator(robot, imu.link, imu.X_LI, read_settings(config))
        self._measured = MeasuredState(robot)
        self._imu_reader = NumbersReader(Imu, 1, IMU_SIZE)
        self._joint_reader = JointStateReader()
        names = tuple(contact.name for contact in self._estimator.estimate().contacts)
        self._wrench_readers = {name: NumbersReader(WrenchStamped, 1, 6) for name in names}
        self._efforts = EffortOrder(robot.coordinates[6:])
        n, prefix, still = len(names), self.frame_prefix, Time()
        self._base = robot.links[0]
        frames = prefix + WORLD, prefix + self._base
        odometry = write_odometry(mark(0, 7), mark(1, 6), still, frames)
        odometry.pose.covariance, odometry.twist.covariance = mark(2, 36), mark(3, 36)
        self._odometry_form = Form(odometry, 7, 6, 36, 36)
        contacts = write_joint_state(names, mark(0, n), mark(1, n), still, mark(2, n))
        self._contact_form = Form(contacts, n, n, n)
        self._frames = (
            FramePublisher(self, (self._base,))
            if config.publish_tf and find_spec("tf2_msgs") is not None
            else None
        )

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of sensors."""
        handlers: dict[str, Handler] = {"imu": self._on_imu, "joint_states": self._on_joints}
        if self.config.wrenches:
            handlers["contact_wrenches/<surface>"] = self._on_wrench
        return handlers

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return the contacts."""
        contacts = placeholder == "surface" and self._estimator is not None
        return tuple(self._wrench_readers) if contacts else ()

    def acts(self) -> Mapping[str, Act]:
        """Return what the services do."""
        return {"reset": self._reset}

    def facts(self) -> Mapping[str, Any]:
        """Return counters, biases, uncertainty and contacts."""
        facts: dict[str, Any] = dict(self._counts)
        x = self._latest
        if x is not None:
            deviation = np.sqrt(np.diag(x.pose_covariance))
            facts |= {
                "gyro bias": np.array2string(x.gyro_bias, precision=5),
                "accelerometer bias": np.array2string(x.acc_bias, precision=4),
                "standard deviation of place": f"{deviation[:3].max():.4f} m",
                "standard deviation of roll and pitch": f"{np.degrees(deviation[3:5].max()):.3f} deg",
                "faults": ", ".join(x.faults),
                "contacts": ", ".join(c.name for c in x.contacts if c.closed),
            }
        return facts

    def begin(self) -> None:
        """Start the estimator."""
        self._restart()
        self.tell(EstimatorStatus.WAITING_IMU)

    def tick(self) -> None:
        """Report inputs that have stopped."""
        with self.lock:
            if self.active and self._estimator is not None:
                self._report(self._estimator.estimate(self.now()))

    def _restart(self) -> None:
        self._latest = None
        if self._estimator is not None:
            self._measured.forget()
            self._estimator.reset()

    def _on_imu(self, message: bytes) -> None:
        if self._estimator is None:
            return
        found = self._imu_reader.read(message)
        self._counts["imu samples"] += 1
        if found is None:
            self._estimator.add_imu(self.now(), INVALID, INVALID)
            return
        numbers, stamp = found
        self._estimator.add_imu(stamp / SECOND, numbers[GYRO], numbers[ACC])

    def _on_joints(self, message: bytes) -> None:
        estimator, measured = self._estimator, self._measured
        if estimator is None:
            return
        found = self._joint_reader.read(message)
        self._counts["joint samples"] += 1
        if found is None or not measured.put_joints(*found[:3], found[4] / SECOND):
            estimator.add_joints(self.now(), np.full_like(measured.q[7:], np.nan))
            self._report(estimator.estimate())
            return
        names, _, _, effort, at = found
        if measured.joints_at == -np.inf:  # some joints have not come yet
            return
        t = at / SECOND
        estimator.add_joints(t, measured.q[7:], measured.v[6:], self._efforts.sort(names, effort))
        x = estimator.estimate(t)
        if x.valid and not STALE & set(x.faults):
            self._publish(x, Time(sec=at // SECOND, nanosec=at % SECOND))
        self._report(x)

    def _on_wrench(self, message: bytes, surface: str) -> None:
        found = self._wrench_readers[surface].read(message)
        if found is not None and self._estimator is not None:
            self._estimator.add_wrench(found[1] / SECOND, surface, found[0])

    def _publish(self, x: BaseEstimate, stamp: Time) -> None:
        """Publish contact states, then odometry, which completes the state for controllers."""
        self._counts["estimates"] += 1
        contacts = x.contacts
        self.out("contact_states").publish(
            self._contact_form.write(
                stamp,
                np.array([contact.probability for contact in contacts]),
                np.array([float(contact.slipping) for contact in contacts]),
                np.array([contact.load for contact in contacts]),
            )
        )
        self.out("odom").publish(
            self._odometry_form.write(
                stamp, x.q_base, x.v_base, x.pose_covariance.ravel(), x.twist_covariance.ravel()
            )
        )
        if self._frames is not None:
            self._frames.publish({self._base: x.q_base}, stamp, WORLD, self.frame_prefix)

    def _report(self, x: BaseEstimate) -> None:
        self._latest = x
        if x.faults:
            worst = min(reversed(x.faults), key=self._rank)
            self.tell(worst, ", ".join(fault.description for fault in x.faults))
        else:
            self.tell(x.status)

    def _rank(self, fault: EstimatorStatus) -> int:
        """Return the place of a fault, the worst first: a slip hides no fault of an input."""
        if fault in self.failed:
            return self.failed.index(fault)
        return len(self.failed) + (fault in self.good)

    def _reset(self, _request: Any) -> str:
        self._restart()
        return ""


class EffortOrder:
    """Puts efforts of messages into the order of the robot; not for several threads at once."""

    def __init__(self, coordinates: Sequence[str]) -> None:
        """Prepare.

        Args:
            coordinates: Names of the joint velocities of the robot.
        """
        self._places = {name: place for place, name in enumerate(coordinates)}
        self._names: Sequence[str] = ()
        self._which = self._where = np.zeros(0, dtype=np.intp)

    def sort(self, names: Sequence[str], effort: Vector) -> Vector | None:
        """Return (joints,) efforts, zero for joints that the message does not name; None where it has none.

        Args:
            names: Joint names of the message.
            effort: (len(names),) efforts, or none.
        """
        if len(effort) != len(names):
            return None
        if names != self._names:
            self._names = list(names)
            known = [i for i, name in enumerate(names) if name in self._places]
            self._which = np.array(known, dtype=np.intp)
            self._where = np.array([self._places[names[i]] for i in known], dtype=np.intp)
        sorted_effort = np.zeros(len(self._places))
        sorted_effort[self._where] = effort[self._which]
        return sorted_effort


def read_settings(config: Any) -> EstimatorSettings:
    """Return the settings of the estimator that a configuration has.

    Args:
        config: Parameters of the node.
    """
    known = {entry.name for entry in fields(EstimatorSettings)}
    settings = {name: value for name, value in vars(config).items() if name in known}
    if not config.flat_floor:
        settings["floor_height"] = None
    return EstimatorSettings(**settings)


def main() -> None:
    """Run the node."""

    def loop(node: StateEstimatorNode, stop: threading.Event) -> None:
        keep_rate(node.config.watch_rate, stop, node.tick, node.wait)

    run(StateEstimatorNode, loop)
