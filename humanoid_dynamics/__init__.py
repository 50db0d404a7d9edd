"""Dynamics of humanoids: torques with physically right contact forces, at kilohertz, from a URDF alone.

import humanoid_dynamics as hd

robot = hd.load_robot("human28")
state = hd.State.at_rest(robot)
answer = hd.inverse_dynamics(robot, state, a=[0.0] * robot.nv)
answer.tau, answer.wrenches, answer.certificate
"""

from humanoid_dynamics.errors import (
    DescriptionError,
    HumanoidDynamicsError,
    MissingExtraError,
    ShapeError,
    SingularInertiaError,
    SourceError,
    UnknownNameError,
    UrdfError,
)
from humanoid_dynamics.model.catalogue import catalogue_names
from humanoid_dynamics.model.facts import describe_robot
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.answer import Answer, Certificate
from humanoid_dynamics.resolution.inverse_dynamics import InverseDynamics, inverse_dynamics

__all__ = [
    "Answer",
    "Certificate",
    "DescriptionError",
    "HumanoidDynamicsError",
    "InverseDynamics",
    "MissingExtraError",
    "RobotModel",
    "ShapeError",
    "SingularInertiaError",
    "SourceError",
    "State",
    "UnknownNameError",
    "UrdfError",
    "catalogue_names",
    "describe_robot",
    "inverse_dynamics",
    "load_robot",
]
