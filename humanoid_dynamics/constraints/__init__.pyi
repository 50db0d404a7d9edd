# SPDX-License-Identifier: Apache-2.0
from .block import ConstraintBlock as ConstraintBlock
from .constraint_set import ConstraintRows as ConstraintRows
from .constraint_set import ConstraintSet as ConstraintSet
from .contact import build_contact as build_contact
from .contact import hold as hold
from .coordinate import build_coupling as build_coupling
from .coordinate import build_lock as build_lock
from .coordinate import build_mimic as build_mimic
from .loop import build_loop as build_loop
from .null_space import DynamicsStatus as DynamicsStatus
from .null_space import NullSpace as NullSpace
from .orthonormal import OrthonormalBasis as OrthonormalBasis
from .partition import CoordinatePartition as CoordinatePartition
from .rank import RankPolicy as RankPolicy
from .user import UserBlock as UserBlock
from .wheel import build_wheel as build_wheel
