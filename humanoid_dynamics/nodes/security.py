"""Who may say and hear what, as a policy for SROS2: each node what it needs, and no more; no ROS needed."""

from __future__ import annotations

import re

from humanoid_dynamics.nodes.interfaces import INTERFACES, Interface

COMMON_OUT = ("rosout", "parameter_events", "~/transition_event", "/tf")
COMMON_IN = ("/clock",)
PARAMETERS = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
)
LIFE = ("change_state", "get_available_states", "get_available_transitions", "get_state", "get_transition_graph")
RENAMED = {
    "simulator": {"joint_torque_commands": "guarded_torque_commands"},
    "effort_guard": {"effort_commands": "guarded_effort_commands"},
}


def write_policy() -> str:
    """Return the text of ``config/security/policy.xml``, for the names of the graph ``demo``."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<!-- Written from humanoid_dynamics/nodes/interfaces.py by docs/generate.py. -->",
        '<policy version="0.2.0">',
        "  <enclaves>",
    ]
    for node, interface in INTERFACES.items():
        lines += [f'    <enclave path="/hd/{node}">', "      <profiles>", f'        <profile ns="/" node="{node}">']
        lines += _profile(node, interface)
        lines += ["        </profile>", "      </profiles>", "    </enclave>"]
    return "\n".join([*lines, "  </enclaves>", "</policy>"]) + "\n"


def _profile(node: str, interface: Interface) -> list[str]:
    said = [topic.name for topic in interface.topics if topic.way == "out"]
    heard = [topic.name for topic in interface.topics if topic.way == "in"]
    offered = [f"~/{name}" for name in (*(service.name for service in interface.services), *PARAMETERS, *LIFE)]
    lines = _block("topics", "publish", "topic", [*COMMON_OUT, *said], node)
    lines += _block("topics", "subscribe", "topic", [*COMMON_IN, *heard], node)
    return lines + _block("services", "reply", "service", offered, node)


def _block(kind: str, verb: str, entry: str, names: list[str], node: str) -> list[str]:
    renamed = RENAMED.get(node, {})
    written = [re.sub(r"<\w+>", "*", renamed.get(name, name)) for name in names]
    lines = [f"            <{entry}>{name}</{entry}>" for name in dict.fromkeys(written)]
    return [f'          <{kind} {verb}="ALLOW">', *lines, f"          </{kind}>"]
