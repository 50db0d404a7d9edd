# SPDX-License-Identifier: Apache-2.0
from .arrays import Matrix as Matrix
from .arrays import Vector as Vector
from .polygon import hull_of as hull_of
from .polygon import margin_inside as margin_inside
from .wrench import shift_twist as shift_twist
from .wrench import shift_wrench as shift_wrench
