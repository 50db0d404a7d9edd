# SPDX-License-Identifier: Apache-2.0
"""The state of the base estimator: one record."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, fields

import numpy as np

from humanoid_dynamics.estimation.settings import EstimatorStatus
from humanoid_dynamics.spatial.arrays import Matrix, Vector

HISTORY = 128  # IMU samples kept for joint samples and poses that come late
PROBABILITY, CLOSED, LOAD, SPEED, WEIGHT, PLANNED, MEASURED = range(7)
CONTACT_COLUMNS = 7


@dataclass(eq=False)
class EstimatorState:
    """Everything that a base estimator remembers from sample to sample.

    Attributes:
        X: (7, 3) rotation, velocity and place of the IMU, biases; see ``kernels``.
        P: (15, 15) covariance of the invariant error.
        history: (HISTORY, 7, 3) states of the last IMU samples, a ring buffer.
        history_times: (HISTORY,) their times [s].
        history_gyro: (HISTORY, 3) their angular rates, as measured [rad/s].
        history_acc: (HISTORY, 3) their specific forces, as measured [m/s²].
        newest: Row of the newest sample in the ring buffers.
        momentum: (nv,) generalized momentum at the last joint sample.
        residual: (nv,) external generalized force of the momentum observer.
        wrenches: (n, 6) contact wrenches in the frames of the surfaces, as estimated [N, N·m].
        contacts: (n, 7) numbers of the contacts, by the columns named above.
        points: (n, 3) loaded points in IMU axes [m].
        q: (nq,) configuration of the last joint sample; its base is that of the IMU axes.
        v: (nv,) its velocity.
        times: Times of the last samples by input [s].
        faults: Time of the last occurrence of each fault [s].
        means: (2, nq - 1) fast and slow means of gyroscope, accelerometer and joints.
        calm: (5,) begin of the calm moment so far, number of samples, sum of specific forces.
        started: Whether the filter runs.
        height_known: Whether the height of the world is fixed.
        height_guessed: Whether it is that of the lowest contact at the start.
        aligned: Whether a measured pose has set place and heading.
        given: What ``reset`` was given.
        same_since: Time since which joint values are constant [s].
        moved: Time at which IMU or joints moved last [s].
        pending: Joint samples that wait for the IMU.
    """

    X: Matrix
    P: Matrix
    history: Matrix
    history_times: Vector
    history_gyro: Matrix
    history_acc: Matrix
    momentum: Vector
    residual: Vector
    wrenches: Matrix
    contacts: Matrix
    points: Matrix
    q: Vector
    v: Vector
    means: Matrix
    calm: Vector
    newest: int = -1
    times: dict[str, float] = field(default_factory=dict)
    faults: dict[EstimatorStatus, float] = field(default_factory=dict)
    given: dict[str, Vector] = field(default_factory=dict)
    started: bool = False
    height_known: bool = False
    height_guessed: bool = False
    aligned: bool = False
    same_since: float = -np.inf
    moved: float = np.inf
    pending: list[tuple[float, Vector, Vector, Vector | None]] = field(default_factory=list)

    def copy(self) -> EstimatorState:
        """Return an independent copy."""
        return deepcopy(self)

    def restore(self, other: EstimatorState) -> None:
        """Take over another state; arrays keep their memory."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if isinstance(mine, np.ndarray):
                mine[...] = theirs
            else:
                setattr(self, each.name, deepcopy(theirs))


def new_state(nq: int, nv: int, contacts: int) -> EstimatorState:
    """Return the state of an estimator that has received nothing.

    Args:
        nq: Numbers of a configuration.
        nv: Numbers of a velocity.
        contacts: Number of contacts.
    """
    state = EstimatorState(
        X=np.vstack((np.eye(3), np.zeros((4, 3)))),
        P=np.zeros((15, 15)),
        history=np.zeros((HISTORY, 7, 3)),
        history_times=np.full(HISTORY, -np.inf),
        history_gyro=np.zeros((HISTORY, 3)),
        history_acc=np.zeros((HISTORY, 3)),
        momentum=np.zeros(nv),
        residual=np.zeros(nv),
        wrenches=np.zeros((contacts, 6)),
        contacts=np.zeros((contacts, CONTACT_COLUMNS)),
        points=np.zeros((contacts, 3)),
        q=np.zeros(nq),
        v=np.zeros(nv),
        means=np.zeros((2, nq - 1)),
        calm=np.zeros(5),
    )
    state.contacts[:, MEASURED] = np.nan
    state.q[6] = 1.0
    return state
