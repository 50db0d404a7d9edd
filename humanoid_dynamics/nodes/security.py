# SPDX-License-Identifier: Apache-2.0
"""Who may say and hear what, as a policy for SROS2: each node what it needs, and no more; no ROS needed."""

from __future__ import annotations

import re

from humanoid_dynamics.nodes.interfaces import ANY, INTERFACES, Interface

COMMON_OUT = ("rosout", "parameter_events", "~/transition_event", "/tf")
COMMON_IN = ("clock",)
COMMON = ("/rosout", "/tf", "/tf_static", "clock", "/diagnostics")
PARAMETERS = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
)
LIFE = (
    "change_state",
    "get_available_states",
    "get_available_transitions",
    "get_state",
    "get_transition_graph",
)


def write_policy() -> str:
    """Return the text of ``config/security/policy.xml``, for the names of the graph ``demo``."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<!-- Written from humanoid_dynamics/nodes/interfaces.py by docs/generate.py. -->",
        '<policy version="0.2.0">',
        "  <enclaves>",
    ]
    for node, interface in INTERFACES.items():
        lines += [
            f'    <enclave path="/hd/{node}">',
            "      <profiles>",
            f'        <profile ns="/" node="{node}">',
        ]
        lines += _profile(interface)
        lines += ["        </profile>", "      </profiles>", "    </enclave>"]
    return "\n".join([*lines, "  </enclaves>", "</policy>"]) + "\n"


def list_topics() -> list[str]:
    """Return the topics that our nodes publish or hear, by the names of the graph ``demo``; ``<surface>`` and the like stand for many."""
    names: dict[str, None] = dict.fromkeys(COMMON)
    for node, interface in INTERFACES.items():
        for topic in interface.topics:
            if topic.name != ANY:
                names[topic.name.replace("~", node)] = None
    return list(names)


def _profile(interface: Interface) -> list[str]:
    said = [topic.name for topic in interface.topics if topic.way == "out"]
    heard = [topic.name for topic in interface.topics if topic.way == "in"]
    offered = [
        f"~/{name}"
        for name in (*(service.name for service in interface.services), *PARAMETERS, *LIFE)
    ]
    lines = _block("topics", "publish", "topic", [*COMMON_OUT, *said])
    lines += _block("topics", "subscribe", "topic", [*COMMON_IN, *heard])
    lines += _block("services", "reply", "service", offered)
    return lines + (
        _block("services", "request", "service", list(interface.calls)) if interface.calls else []
    )


def _block(kind: str, verb: str, entry: str, names: list[str]) -> list[str]:
    every = [name for name in list_topics() if name != "/diagnostics"]
    names = [each for name in names for each in (every if name == ANY else [name])]
    written = [re.sub(r"<\w+>", "*", name) for name in names]
    lines = [f"            <{entry}>{name}</{entry}>" for name in dict.fromkeys(written)]
    return [f'          <{kind} {verb}="ALLOW">', *lines, f"          </{kind}>"]
