# SPDX-License-Identifier: Apache-2.0
from .facts import describe_robot as describe_robot
from .imu import Imu as Imu
from .imu import ImuErrors as ImuErrors
from .joint import Joint as Joint
from .joint import Limits as Limits
from .joint import Mimic as Mimic
from .load import load_robot as load_robot
from .loop import LoopClosure as LoopClosure
from .loop import Wheel as Wheel
from .reading.catalogue import catalogue_names as catalogue_names
from .robot import ControlPoint as ControlPoint
from .robot import Notice as Notice
from .robot import RobotModel as RobotModel
from .shape import Geometry as Geometry
from .state import State as State
from .surface import ContactSurface as ContactSurface
