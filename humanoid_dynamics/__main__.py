# SPDX-License-Identifier: Apache-2.0
"""`python -m humanoid_dynamics`: the command line, where its script is not on the path."""

from humanoid_dynamics.cli import main

main()
