# SPDX-License-Identifier: Apache-2.0
from .bag_reader import Bag as Bag
from .bag_reader import Series as Series
from .bag_reader import is_bag as is_bag
from .bag_reader import read_bag as read_bag
from .files import load_record as load_record
from .files import open_sink as open_sink
from .files import save_record as save_record
from .record import Record as Record
from .record import Table as Table
from .sink import MemorySink as MemorySink
from .sink import Sink as Sink
