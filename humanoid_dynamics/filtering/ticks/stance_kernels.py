# SPDX-License-Identifier: Apache-2.0
"""Which soles bear load and where they stand, as loops that numba compiles: how ``Footing`` decides."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

STANDS, TORN, EDGE, LANDED, SETTLES = range(5)  # rows of the marks
LATE, AGE = range(2)  # rows of the times
TOUCH = (
    0.0015,
    0.0005,
)  # m; a sole that is to stand does so once it is this near to the ground; the second where it is measured
FLAT = 0.03  # rad; and this level, where it is not measured
SETTLING = 0.003  # m; where the other one stands it settles from here on: it comes to lie flat, and bears nothing until it does
SETTLED = (
    (0.0018, 0.033),
    (0.002, 0.0349),
)  # m and rad; a sole whose middle is so near to the ground, and that is this level, has
# settled; the second as long as it goes on standing: what the certificate takes for lying on the ground
STRUCK = (
    0.05,
    -0.003,
)  # m/s and m; a measured sole is on the ground where that has stopped it, or where it is this deep
TORN_OFF = (
    0.008,
    0.06,
)  # m and rad; a measured sole that is higher or steeper than this does not stand
RISING, CALM = (
    0.08,
    0.3,
)  # m/s and s; a measured sole that goes up faster than this, so long after both came down, is being torn off
TAKEN = 0.1  # s after touch-down, in which a sole may still be steep
RAMP = 0.04  # s; time in which a sole takes its load, and in which it gives it away
FIRST_LOAD = 0.05  # weights of the robot, at touch-down of a measured sole: the ground stops it
SLIDING_LOAD = 0.005  # the same of a sole that is not measured, until it rests
SETTLING_LOAD = 8e-7  # the same until it has settled: less than counts as load, more than limits of a contact do not count on
RESTS = (0.03, 0.3)  # m/s and rad/s; a sole that is slower than this rests
TILT = (
    0.2,
    0.6,
)  # rad; and so level does it come down; the second where it is late, or comes down on an edge
TOO_LATE = 0.03  # s
STOPPING = 0.002  # s; way a sole still goes after touch-down, in times of its speed
REACHING = 0.004  # m; a sole that is late aims this far below the ground
LANDING = (
    0.01  # m; a sole that is to come down and is planned to be lower than this is about to land
)
DEEPER = 0.008  # m; so much lower it then takes the ground to be, where it is measured: the ground stops it
LYING = (
    0.012,
    1.0,
)  # rad and rad/s; a sole on an edge that is this level and turns this slowly lies flat

SMALL = 1e-6

Ground = tuple[float, float, float]
Pair = tuple[bool, bool]
Asked = tuple[Pair, tuple[int, int]]
Wanted = tuple[Vector, Vector, Vector, Matrix, Matrix, Matrix, Matrix, Matrix]
Body = tuple[Matrix, Matrix, Matrix]
Soles = tuple[tuple[Matrix, Matrix], Matrix]
Held = tuple[Indices, Matrix, Matrix, Matrix]


def follow_feet(
    asked: Asked, wanted: Wanted, body: Body, soles: Soles, held: Held, when: tuple[float, bool]
) -> None:
    """Decide which soles bear load in a state, and write that into what is wanted.

    Args:
        asked: Which soles should bear load, and what they should stand on.
        wanted: until, load, ground, normal, sole_place, sole_turn, sole_rate and sole_acceleration of the target; what standing soles
            cannot choose is changed.
        body: place, turn and twist of the soles.
        soles: Corners of both, and (2, 2, 3) the middles of their front and rear edges [m]; none where soles have no width.
        held: Marks and times, places and orientations where soles stand; changed.
        when: Time until the next tick [s], and whether the state comes from a robot.
    """
    marks, times = held[0], held[1]
    stood = marks[STANDS, 0] != 0, marks[STANDS, 1] != 0
    left, right = (
        _bears(0, asked, wanted, body, soles, held, when[1]),
        _bears(1, asked, wanted, body, soles, held, when[1]),
    )
    if not (left or right) and (asked[0][0] or asked[0][1]):
        left, right = stood  # nobody has taken over: who stands goes on standing
    if not when[1] and (
        left or right
    ):  # nor does who stands leave in the tick in which the other one comes down
        left, right = left or (stood[0] and not stood[1]), right or (stood[1] and not stood[0])
    down = left, right
    for foot in range(2):
        marks[EDGE, foot] = _choose_edge(
            foot, (down[foot], down[1 - foot]), asked, wanted, body, marks
        )
    for foot in range(2):
        if down[foot] and (
            not stood[foot] or (not when[1] and times[AGE, foot] == 0.0)
        ):  # and again until it has stopped
            _latch(foot, stood[1 - foot], asked, wanted, body, soles, held)
        times[LATE, foot] = (
            times[LATE, foot] + when[0] if asked[0][foot] and not down[foot] else 0.0
        )
        if down[foot]:
            _stay(foot, wanted, held)
        else:
            _reach(foot, asked[0][foot], wanted, when[1])
        marks[SETTLES, foot] = (
            left and right and not (when[1] or _lies(foot, wanted, body, soles, held))
        )
        times[AGE, foot] = _age(foot, (down[foot], stood), body, held, when)
        marks[STANDS, foot] = down[foot]
    if left and right:
        _share_load(wanted, body, held, when[1])


def _bears(
    foot: int, asked: Asked, wanted: Wanted, body: Body, soles: Soles, held: Held, measured: bool
) -> bool:
    marks, times = held[0], held[1]
    if not asked[
        0
    ][
        foot
    ]:  # nobody leaves before who came down has taken its load, or, where nothing is measured, can take it
        both = marks[STANDS, foot] != 0 and marks[STANDS, 1 - foot] != 0
        age: float = times[AGE, 1 - foot]
        return both and (age < RAMP if measured else age == 0.0)
    if marks[STANDS, foot] and marks[EDGE, foot]:
        return True
    if marks[STANDS, foot]:
        torn = measured and marks[STANDS, 1 - foot] != 0 and times[AGE, foot] > TAKEN
        if torn:
            at = held[2]
            level, lowest, _ = _find_lowest(
                foot, wanted, body, soles, (at[foot, 0], at[foot, 1], at[foot, 2])
            )
            torn = level < math.cos(TORN_OFF[1]) or lowest > TORN_OFF[0]
        marks[TORN, foot] = torn
        return not torn
    level, lowest, middle = _find_lowest(foot, wanted, body, soles, _ground(foot, wanted))
    if not measured and (
        asked[1][foot] == 0 or marks[STANDS, 1 - foot] == 0
    ):  # all of it comes to stand
        if marks[STANDS, 1 - foot] != 0:
            return level > math.cos(TILT[int(times[LATE, foot] > TOO_LATE)]) and lowest < SETTLING
        return level > math.cos(FLAT) and abs(middle) < TOUCH[0]
    tilt = TILT[1] if times[LATE, foot] > TOO_LATE or asked[1][foot] != 0 else TILT[0]
    if marks[TORN, foot]:
        tilt = TORN_OFF[1]
    if level <= math.cos(tilt) or lowest > (TOUCH[1] if measured else TOUCH[0]):
        return False
    return not measured or lowest < STRUCK[1] or _sinks(foot, wanted, body) < STRUCK[0]


def _sinks(foot: int, wanted: Wanted, body: Body) -> float:
    """Return how fast a sole moves towards the ground [m/s]."""
    n, R, twist, speed = wanted[3][foot], body[1][foot], body[2][foot], 0.0
    for i in range(3):
        for j in range(3):
            speed -= n[i] * R[i, j] * twist[j]
    return speed


def _find_lowest(
    foot: int, wanted: Wanted, body: Body, soles: Soles, ground: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return the cosine of the tilt of a sole, and how high its lowest corner and its middle are over a plane."""
    return find_lowest(body[0][foot], body[1][foot], soles[0][foot], wanted[3][foot], ground)


def _ground(foot: int, wanted: Wanted) -> tuple[float, float, float]:
    """Return the point of the ground under a sole."""
    return wanted[4][foot, 0], wanted[4][foot, 1], wanted[2][foot]


def _choose_edge(
    foot: int, down: Pair, asked: Asked, wanted: Wanted, body: Body, marks: Indices
) -> int:
    """Let a standing sole turn about an edge where it is asked to and the other one stands, until it lies flat again."""
    edge, wish = int(marks[EDGE, foot]), asked[1][foot]
    if not down[0]:
        return 0
    if wish != 0 and (down[1] or edge != 0):
        return wish
    if edge != 0:
        R, spin, n = body[1][foot], body[2][foot], wanted[3][foot]
        level = R[0, 2] * n[0] + R[1, 2] * n[1] + R[2, 2] * n[2]
        if (
            level > math.cos(LYING[0])
            and spin[3] * spin[3] + spin[4] * spin[4] + spin[5] * spin[5] < LYING[1] ** 2
        ):
            return 0
    return edge


def _latch(
    foot: int, other: bool, asked: Asked, wanted: Wanted, body: Body, soles: Soles, held: Held
) -> None:
    """Let a sole stand where it comes to rest, or on the edge it comes down with where the other one stands."""
    marks, _, place, turn = held
    n, ground, out = wanted[3][foot], _ground(foot, wanted), place[foot]
    turn_level(body[1][foot], n, turn[foot])
    marks[LANDED, foot] = 1
    if asked[1][foot] == 0 or not other or len(soles[1]) == 0:
        stop_sole((body[0][foot], body[1][foot], body[2][foot]), n, ground, STOPPING, out)
        return
    point, R, E, off = (
        soles[1][foot, 0 if asked[1][foot] > 0 else 1],
        body[1][foot],
        turn[foot],
        0.0,
    )
    for i in range(3):
        out[i] = body[0][foot, i] + R[i, 0] * point[0] + R[i, 1] * point[1] + R[i, 2] * point[2]
        off += (out[i] - ground[i]) * n[i]
    for i in range(3):
        out[i] -= off * n[i] + E[i, 0] * point[0] + E[i, 1] * point[1] + E[i, 2] * point[2]


def _stay(foot: int, wanted: Wanted, held: Held) -> None:
    """Write where a sole stands; one on an edge turns as the target has it."""
    for i in range(3):
        wanted[4][foot, i] = held[2][foot, i]
        if not held[0][EDGE, foot]:
            for j in range(3):
                wanted[5][foot, i, j] = held[3][foot, i, j]


def _lands(foot: int, wanted: Wanted) -> bool:
    """Return whether the plan has a sole close above the ground, and coming down."""
    n, place, rate, height, rise = wanted[3][foot], wanted[4][foot], wanted[6][foot], 0.0, 0.0
    ground = _ground(foot, wanted)
    for i in range(3):
        height += n[i] * (place[i] - ground[i])
        rise += n[i] * rate[i]
    return height < LANDING and rise < 0.0


def _reach(foot: int, late: bool, wanted: Wanted, measured: bool) -> None:
    """Let a sole that is late go straight on to the ground, and a measured one come down until the ground stops it."""
    if measured and (late or _lands(foot, wanted)):
        wanted[2][foot] -= DEEPER
    if not late:
        return
    for i in range(3):
        wanted[4][foot, i] -= REACHING * wanted[3][foot, i]
    for i in range(6):
        wanted[6][foot, i] = wanted[7][foot, i] = 0.0


def _age(
    foot: int, stands: tuple[bool, Pair], body: Body, held: Held, when: tuple[float, bool]
) -> float:
    """Return for how long a sole has been taking load: since it came down, or, where nothing is measured, since it has stopped."""
    down, stood = stands
    age: float = held[1][AGE, foot]
    if not (down and stood[foot]):
        return (
            0.0 if stood[0] or stood[1] else math.inf
        )  # who bears all load from the start has it already
    begins = (
        when[1]
        or age > 0.0
        or held[0][EDGE, foot] != 0
        or (held[0][SETTLES, foot] == 0 and _rests(body[2][foot]))
    )
    return age + when[0] if begins else age


def _lies(foot: int, wanted: Wanted, body: Body, soles: Soles, held: Held) -> bool:
    """Return whether a sole stands on an edge, or lies on the ground with all it has."""
    if held[0][EDGE, foot] != 0:
        return True
    at, k = held[2][foot], int(held[0][STANDS, foot] != 0 and held[0][SETTLES, foot] == 0)
    level, _, middle = _find_lowest(foot, wanted, body, soles, (at[0], at[1], at[2]))
    return level > math.cos(SETTLED[k][1]) and abs(middle) < SETTLED[k][0]


def _rests(twist: Vector) -> bool:
    """Return whether a sole that came down has stopped."""
    along: float = twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2]
    turning: float = twist[3] * twist[3] + twist[4] * twist[4] + twist[5] * twist[5]
    return along < RESTS[0] ** 2 and turning < RESTS[1] ** 2


def _share_load(wanted: Wanted, body: Body, held: Held, measured: bool) -> None:
    """Let a sole that came down, or is about to be lifted, take no more than its part of the load, and next to none while it slides.

    So does a measured one that goes up: its ankle would spin under a load that nothing bears.
    Where one came down late the other one goes on bearing what is left over, however soon it is to be lifted.
    """
    marks, times = held[0], held[1]
    leaps = wanted[0][0] == wanted[0][1]  # nobody takes over
    long = measured and min(times[AGE, 0], times[AGE, 1]) > CALM
    first = FIRST_LOAD if measured else SLIDING_LOAD
    late = 0 if times[AGE, 0] < times[AGE, 1] else 1  # who came down later
    for foot in range(2):
        alone = not measured and times[AGE, 1 - foot] == 0.0
        left = math.inf if leaps or alone else max(wanted[0][foot], 0.0)
        if foot != late and left + times[AGE, late] < RAMP:
            left = math.inf
        share = min(times[AGE, foot], left) / RAMP
        torn = long and _sinks(foot, wanted, body) < -RISING
        wanted[1][foot] = first if torn else first + share if share < 1.0 else math.inf
        if marks[SETTLES, foot] != 0:
            wanted[1][foot] = SETTLING_LOAD


def find_lowest(
    place: Vector, R: Matrix, corners: Matrix, normal: Vector, ground: Ground
) -> tuple[float, float, float]:
    """Return the cosine of the tilt of a sole, and how high its lowest corner and its middle are over a plane.

    Args:
        place: (3,) origin of the sole [m].
        R: (3, 3) its orientation.
        corners: (k, 3) its corners, in its axes [m].
        normal: (3,) normal of the plane.
        ground: A point of it [m].
    """
    off, lowest, total = 0.0, math.inf, 0.0
    for i in range(3):
        off += normal[i] * (place[i] - ground[i])
    x, y, z = upright(R, normal)
    for c in range(len(corners)):
        height = x * corners[c, 0] + y * corners[c, 1] + z * corners[c, 2]
        lowest, total = min(lowest, height), total + height
    return z, off + lowest, off + total / len(corners)


def upright(R: Matrix, normal: Vector) -> Ground:
    """Return a normal in axes of a sole."""
    x = R[0, 0] * normal[0] + R[1, 0] * normal[1] + R[2, 0] * normal[2]
    y = R[0, 1] * normal[0] + R[1, 1] * normal[1] + R[2, 1] * normal[2]
    return x, y, R[0, 2] * normal[0] + R[1, 2] * normal[1] + R[2, 2] * normal[2]


def stop_sole(
    sole: tuple[Vector, Matrix, Vector],
    normal: Vector,
    ground: Ground,
    stopping: float,
    out: Vector,
) -> None:
    """Write where a sole comes to rest on a plane.

    Args:
        sole: (3,) place [m], (3, 3) orientation and (6,) velocity of the sole in its axes.
        normal: (3,) normal of the plane.
        ground: A point of it [m].
        stopping: Way it still goes, in times of its speed [s].
        out: (3,) place [m]; overwritten.
    """
    place, R, twist = sole
    off = 0.0
    for i in range(3):
        out[i] = place[i] + stopping * (
            R[i, 0] * twist[0] + R[i, 1] * twist[1] + R[i, 2] * twist[2]
        )
        off += normal[i] * (out[i] - ground[i])
    for i in range(3):
        out[i] -= off * normal[i]


def turn_level(R: Matrix, normal: Vector, out: Matrix) -> None:
    """Write the orientation on a plane that looks the same way; see ``footing.level_turn``."""
    x, y, z = normal[0], normal[1], normal[2]
    along = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    a, b, c = R[0, 0] - along * x, R[1, 0] - along * y, R[2, 0] - along * z
    size = math.sqrt(a * a + b * b + c * c)
    if size < SMALL:  # the sole looks along the normal: any way is as good
        a, b, c, size = 1.0, 0.0, 0.0, 1.0
    a, b, c = a / size, b / size, c / size
    out[0, 0], out[1, 0], out[2, 0] = a, b, c
    out[0, 1], out[1, 1], out[2, 1] = y * c - z * b, z * a - x * c, x * b - y * a
    out[0, 2], out[1, 2], out[2, 2] = x, y, z
