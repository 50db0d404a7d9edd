"""Kane's equations for n wheeled links: two equations of motion whatever the length, in O(n).

``chain`` what a snake is | ``unfolded``, ``turning`` the O(n) kernel | ``kane`` the paper's recursion | ``lagrange``, ``newton_euler``
its comparators | ``dynamics``, ``inverse``, ``wheels`` the questions | ``rates``, ``simulate`` motions | ``steering`` driving | ``urdf``
the same snake for the general engine | ``operations``, ``counts``, ``experiment`` the paper's comparisons.
"""

from humanoid_dynamics.snake.chain import SnakeModel, SnakeState, compute_link_positions
from humanoid_dynamics.snake.dynamics import (
    MODES,
    KaneEquations,
    PreparedSnake,
    SnakeRates,
    compute_equations,
    compute_kinetic_energy,
    compute_link_speeds,
    forward_dynamics,
)
from humanoid_dynamics.snake.experiment import SnakeExperiment, run_snake_experiment
from humanoid_dynamics.snake.inverse import PreparedInverse, SnakeTorques, inverse_dynamics
from humanoid_dynamics.snake.simulate import SnakeTrajectory, build_paper_state, build_paper_torques, compute_reference, simulate_snake
from humanoid_dynamics.snake.steering import SerpentineGait, compute_steering_torques
from humanoid_dynamics.snake.urdf import build_snake_description, build_snake_urdf, from_robot_state, to_robot_state
from humanoid_dynamics.snake.wheels import SideForces, compute_side_forces, compute_slip_margins

__all__ = [
    "MODES",
    "KaneEquations",
    "PreparedInverse",
    "PreparedSnake",
    "SerpentineGait",
    "SideForces",
    "SnakeExperiment",
    "SnakeModel",
    "SnakeRates",
    "SnakeState",
    "SnakeTorques",
    "SnakeTrajectory",
    "build_paper_state",
    "build_paper_torques",
    "build_snake_description",
    "build_snake_urdf",
    "compute_equations",
    "compute_kinetic_energy",
    "compute_link_positions",
    "compute_link_speeds",
    "compute_reference",
    "compute_side_forces",
    "compute_slip_margins",
    "compute_steering_torques",
    "forward_dynamics",
    "from_robot_state",
    "inverse_dynamics",
    "run_snake_experiment",
    "simulate_snake",
    "to_robot_state",
]
