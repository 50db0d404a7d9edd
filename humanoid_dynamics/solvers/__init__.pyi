# SPDX-License-Identifier: Apache-2.0
from .qp import QpSolution as QpSolution
from .qp import QpStatus as QpStatus
from .qp import QpWorkspace as QpWorkspace
