"""Dynamics of humanoids: torques with physically right contact forces, at kilohertz, from a URDF alone.

    import humanoid_dynamics as hd

    robot = hd.load_robot("human28")
    state = hd.State.at_rest(robot)
    answer = hd.inverse_dynamics(robot, state, a=[0.0] * robot.nv)
    answer.tau, answer.wrenches, answer.certificate

The names below are loaded when they are first used, so that a program can choose its BLAS threads before numpy is imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humanoid_dynamics.errors import ClipError as ClipError
    from humanoid_dynamics.errors import DescriptionError as DescriptionError
    from humanoid_dynamics.errors import HumanoidDynamicsError as HumanoidDynamicsError
    from humanoid_dynamics.errors import MissingExtraError as MissingExtraError
    from humanoid_dynamics.errors import ShapeError as ShapeError
    from humanoid_dynamics.errors import SingularInertiaError as SingularInertiaError
    from humanoid_dynamics.errors import SourceError as SourceError
    from humanoid_dynamics.errors import UnknownNameError as UnknownNameError
    from humanoid_dynamics.errors import UnsupportedRobotError as UnsupportedRobotError
    from humanoid_dynamics.errors import UrdfError as UrdfError
    from humanoid_dynamics.model.facts import describe_robot as describe_robot
    from humanoid_dynamics.model.load import load_robot as load_robot
    from humanoid_dynamics.model.reading.catalogue import catalogue_names as catalogue_names
    from humanoid_dynamics.model.robot import RobotModel as RobotModel
    from humanoid_dynamics.model.state import State as State
    from humanoid_dynamics.resolution.answer import Answer as Answer
    from humanoid_dynamics.resolution.answer import Certificate as Certificate
    from humanoid_dynamics.resolution.inverse_dynamics import InverseDynamics as InverseDynamics
    from humanoid_dynamics.resolution.inverse_dynamics import inverse_dynamics as inverse_dynamics

_HOMES = {
    "errors": (
        "ClipError",
        "DescriptionError",
        "HumanoidDynamicsError",
        "MissingExtraError",
        "ShapeError",
        "SingularInertiaError",
        "SourceError",
        "UnknownNameError",
        "UnsupportedRobotError",
        "UrdfError",
    ),
    "model.reading.catalogue": ("catalogue_names",),
    "model.facts": ("describe_robot",),
    "model.load": ("load_robot",),
    "model.robot": ("RobotModel",),
    "model.state": ("State",),
    "resolution.answer": ("Answer", "Certificate"),
    "resolution.inverse_dynamics": ("InverseDynamics", "inverse_dynamics"),
}
__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
