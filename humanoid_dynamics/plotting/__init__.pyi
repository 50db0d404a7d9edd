# SPDX-License-Identifier: Apache-2.0
from .curves import build_sheet as build_sheet
from .curves import list_sheets as list_sheets
from .filmstrip import draw_filmstrip as draw_filmstrip
from .sheets import draw_sheets as draw_sheets
