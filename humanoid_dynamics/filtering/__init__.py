"""The dynamics filter: any reference in, consistent motion out, on line and off line."""

from humanoid_dynamics.filtering.clip_filter import FilteredClip, filter_clip
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.ticks.tick import TickSettings

__all__ = ["DynamicsFilter", "FilteredClip", "Frame", "Settings", "Teleoperation", "TeleoperationFrame", "TickSettings", "filter_clip"]
