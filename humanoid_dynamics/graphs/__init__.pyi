# SPDX-License-Identifier: Apache-2.0
from .description import Graph as Graph
from .description import graph_names as graph_names
from .description import load_graph as load_graph
from .supervisor import Supervisor as Supervisor
