# SPDX-License-Identifier: Apache-2.0
from .filter import PaperFilter as PaperFilter
from .filter import PaperReference as PaperReference
from .frame import PaperFilterStatus as PaperFilterStatus
