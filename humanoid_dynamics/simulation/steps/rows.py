# SPDX-License-Identifier: Apache-2.0
"""Names of the rows and columns of the tables that the functions of a step share.

One table of numbers is cheaper to hand to a compiled function than ten arrays.
"""

from __future__ import annotations

from typing import Final

# one row per kind, one column per coordinate
V: Final = 0  # velocity at the start of the step
MOTOR: Final = 1  # torque of the motor, without that of its drive
PUSH: Final = 2  # generalized force of pushes
GIVEN: Final = 3  # torque of the drive
LOST: Final = 4  # force of damping and dry friction
OFFSET: Final = 5  # way to the configuration the drive holds
KP: Final = 6
KD: Final = 7
DAMPING: Final = 8
DRY: Final = 9  # dry friction
EFFORT: Final = 10  # the most a motor and its drive can give together
CUT: Final = 11  # 1 or -1 where a drive is at its limit, zero elsewhere
PULL: Final = 12  # of the drive: pull - sag v at the end
SAG: Final = 13
LOSS: Final = 14  # of damping and dry friction: drag - loss v at the end
EXTRA: Final = 15  # what is implicit, on the diagonal of the inertia
Z_START: Final = 16  # whitened velocity at the start
Z_FREE: Final = 17  # at the end, without contacts and bilateral rows
Z_END: Final = 18  # at the end
V_END: Final = 19
WAY: Final = 20  # dt times the mean velocity
V_MIDDLE: Final = 21  # velocity expected in the middle of the next step
KEPT_MIDDLE: Final = (
    22  # what a step goes back to that was not taken in one go: V_MIDDLE and CUT before it
)
KEPT_CUT: Final = 23
DRAG: Final = 24
INERTIA: Final = 25  # that a coordinate has in the posture where all others give way
DOF_ROWS: Final = 26

# one row per configuration
Q_MIDDLE: Final = 0  # in the middle of the step
Q_END: Final = 1  # at its end
Q_HELD: Final = 2  # which drives hold
Q_ROWS: Final = 3

# account of energy and momentum
SUMS: Final = 0  # work by entry, eight numbers
TOTAL: Final = 8  # their sum
BEFORE: Final = 9  # what was missing after the last step
START: Final = 10  # energy at the start
ENERGY: Final = 11  # energy now
LARGEST: Final = 12  # largest energy that a step created out of nothing
MASS: Final = 13  # of all bodies, zero where their momentum is not audited [kg]
GRAVITY: Final = 14  # three numbers [m/s²]
MOTION: Final = 17  # their momentum, linear and angular about the origin of the world, then mass times centre of mass; nine numbers
IMPULSE: Final = 26  # impulses entered since, six numbers
UNGIVEN: Final = (
    32  # momentum that nobody gave since the last report, linear and about the centre of mass
)
LEAKED: Final = 38  # the same since the start
TURNED: Final = 44  # length of the way of both momenta, from zero
ACCOUNT: Final = 46

# one row per touch point
P_X: Final = 0  # position in its joint, three columns
RADIUS: Final = 3
MU: Final = 4
BOUNCE: Final = 5
JOINT: Final = 6
GROUP: Final = 7  # negative for points of the terrain
P_OUT: Final = 8  # where it looks, in its joint, three columns; zero for everywhere
P_AXIS: Final = 11  # axis of a disc, in its joint, three columns; zero for a ball
P_SHAPE: Final = (
    14  # which shape of its body it belongs to, counted from one, zero for shapes of few points
)
P_END: Final = 15  # of the first point of a cluster: the one after its last, zero for all others
P_BALL: Final = 16  # and the ball that holds it: middle in its joint, three columns, and radius
P_ALL_END: Final = (
    20  # of the first point of a joint with many: the one after its last, zero for all others
)
P_ALL_BALL: Final = (
    21  # and the ball that holds them: middle in their joint, three columns, and radius
)
POINT_COLUMNS: Final = 25

# one row per shape
KIND: Final = 0
S_JOINT: Final = 1
S_GROUP: Final = 2
S_MU: Final = 3
S_BOUNCE: Final = 4
S_R: Final = 5  # rotation in its joint, row by row, nine columns
S_T: Final = 14  # translation, three columns
S_HALF: Final = 17  # half edges of a box; radius and half length of a capsule
SHAPE_COLUMNS: Final = 20
PLANE: Final = 0
BOX: Final = 1
CAPSULE: Final = 2

# one row per point near a shape
N_KEY: Final = 0  # place in the memory
N_POINT: Final = 1
N_SHAPE: Final = 2
N_GAP: Final = 3
N_SPEED: Final = 4  # along the normal, in the middle of the step
N_MU: Final = 5
N_BOUNCE: Final = 6
N_PLACE: Final = 7  # three columns
N_AXES: Final = 10  # normal and two tangents, nine columns
NEAR_COLUMNS: Final = 19

# one row per pair of point and shape
M_NEXT: Final = (
    0  # one more than the next pair that took part in the last step, zero for the last of them
)
M_TOUCHES: Final = 1  # one where it carried force in the last step
M_DEEP: Final = 2  # how deep it was then, where it took part
M_U: Final = 3  # velocity at its end, in the world
M_P: Final = 6  # impulse, in the world
MEMORY_COLUMNS: Final = 9

# numbers in and out
DT: Final = 0
SPAN: Final = 1  # length of the last step
WITHIN: Final = 2  # how near a point has to be to be looked at
SLOWEST: Final = 3  # approach that is an impact
STATICS: Final = 4  # number of shapes that stand still
ALL_SLOW: Final = 5  # one where even fast points stop dead
FORESEEN: Final = 6  # one where the velocity in the middle is not that of the last step
LOWEST: Final = 7  # least gap
HIT: Final = 8  # when the first point hits, -1 where none does
FASTEST: Final = 9  # largest size of a velocity at the end
RESIDUAL: Final = 10
COMPLEMENTARITY: Final = 11
CONE: Final = 12
ROUNDS: Final = 13
DEPTH: Final = 14
TOUCHING: Final = 15
MISSING: Final = 16  # energy that nobody brought, after the last step
MOMENTUM: Final = 17  # momentum that nobody gave in the last step, its size [N·s]
SPIN: Final = 18  # the same about the centre of mass [N·m·s]
W_MOTORS: Final = 19
W_PUSHES: Final = 20
W_DRIVE: Final = 21
W_LOSSES: Final = 22
W_CONTACTS: Final = 23
W_LOOPS: Final = 24
OVERLOADED: Final = 25  # one where a drive crossed its limit in either direction
COUNT: Final = 26  # number of near points
POINTS: Final = 27  # number of points that take part
NORMALS: Final = 28  # number of points and limits that do
PASSED: Final = 29  # how far a joint is beyond its limit
PAPER: Final = 30  # one where what touches holds without a bound on friction
AUDIT: Final = 31  # one where the books of energy are kept
STOPS: Final = 32  # when the first point that slides stands still, if it slows down as in the last step, zero for none [s]
MISJUDGED: Final = (
    33  # velocity by which a step is off, since its middle was not as expected [m/s, rad/s]
)
FIRST_KEPT: Final = 34  # one more than the first pair that took part in the last step; negative where only a search finds them
NUMBERS: Final = 35
