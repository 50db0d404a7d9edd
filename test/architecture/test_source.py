# SPDX-License-Identifier: Apache-2.0
"""Rules about the source that no linter watches."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "humanoid_dynamics"

CONTAINERS = {"list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict"}
ARRAYS = {
    "array",
    "asarray",
    "zeros",
    "ones",
    "eye",
    "empty",
    "full",
    "identity",
    "arange",
    "linspace",
    "diag",
}
CHANGES = {
    "append",
    "add",
    "update",
    "setdefault",
    "pop",
    "popitem",
    "clear",
    "extend",
    "insert",
    "remove",
    "discard",
    "sort",
}
TABLES = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
BROAD = {"Exception", "BaseException"}


def called_name(node):
    function = node.func if isinstance(node, ast.Call) else None
    return (
        function.id
        if isinstance(function, ast.Name)
        else function.attr
        if isinstance(function, ast.Attribute)
        else ""
    )


def top_level_values(tree):
    """Yield the line, name and value of each assignment made on import: in the module, and in its classes."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for statement in (statement for body in bodies for statement in body):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            yield (
                statement.lineno,
                target.id if isinstance(target, ast.Name) else "",
                statement.value,
            )


def changed_names(tree):
    """Collect the names whose content some statement changes: name[...] = , del name[...], name.append(...)."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and not isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
        ):
            yield node.value.id
        if (
            called_name(node) in CHANGES
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            yield node.func.value.id


def starts_empty(value):
    """Tell whether a container is made to be filled later: a table written out in full is a constant."""
    empty_literal = (isinstance(value, ast.Dict) and not value.keys) or (
        isinstance(value, ast.List | ast.Set) and not value.elts
    )
    return empty_literal or (
        called_name(value) in CONTAINERS and not (value.args or value.keywords)
    )


REASONED = re.compile(r"# noqa: [A-Z]+[0-9]+ - \w+")  # an exemption that says why


def mutable_array(value):
    """Tell whether a value is an array with entries that anybody may overwrite."""
    empty = (
        isinstance(value, ast.Call)
        and value.args
        and isinstance(value.args[0], ast.Constant)
        and value.args[0].value == 0
    )
    return called_name(value) in ARRAYS and not empty


def mutable_state(tree):
    """Yield lines that keep, on module or class level, a value that changes later."""
    changed = set(changed_names(tree))
    for line, name, value in top_level_values(tree):
        filled_later = name in changed and (
            isinstance(value, TABLES) or called_name(value) in CONTAINERS
        )
        if (
            filled_later
            or starts_empty(value)
            or called_name(value) in {"defaultdict", "deque"}
            or mutable_array(value)
        ):
            yield line
    yield from (node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global))


def broad_handlers(tree):
    """Yield lines of handlers that would also swallow a programming error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(
                kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in caught
            ):
                yield node.lineno


def prints(tree):
    """Yield lines that print: a library returns values, only its command line writes, and that through a console."""
    yield from (
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    )


@pytest.mark.parametrize("rule", [mutable_state, broad_handlers, prints])
def test_package_obeys(rule):
    broken = [
        f"{path.relative_to(PACKAGE.parent)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in rule(ast.parse(path.read_text(encoding="utf-8")))
        if not REASONED.search(path.read_text(encoding="utf-8").split("\n")[line - 1])
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("rule", "bad", "good"),
    [
        (mutable_state, "CACHE = {}", "NAMES: Final = ('a', 'b')"),
        (
            mutable_state,
            "UP: Array = np.array([0.0, 0.0, 1.0])",
            "UP = read_only(np.array([0.0, 0.0, 1.0]))",
        ),
        (mutable_state, "class A:\n    seen = []", "class A:\n    seen: tuple[int, ...] = ()"),
        (
            mutable_state,
            "TABLE = {'a': 1}\ndef f(k):\n    TABLE[k] = 2",
            "TABLE = {'a': 1}\ndef f(k):\n    return TABLE[k]",
        ),
        (
            mutable_state,
            "SEEN = ['a']\ndef f(k):\n    SEEN.append(k)",
            "SEEN = ['a']\ndef f(k):\n    return SEEN.index(k)",
        ),
        (
            mutable_state,
            "COUNT = defaultdict(int)",
            "def f():\n    count = defaultdict(int)\n    count[1] += 1",
        ),
        (
            mutable_state,
            "def f():\n    global n\n    n = 1",
            "def f():\n    found = []\n    return found",
        ),
        (
            broad_handlers,
            "try:\n    f()\nexcept:\n    pass",
            "try:\n    f()\nexcept ValueError:\n    pass",
        ),
        (
            broad_handlers,
            "try:\n    f()\nexcept (OSError, Exception):\n    pass",
            "try:\n    f()\nexcept (OSError, KeyError):\n    pass",
        ),
        (prints, "print('x')", "console.print('x')"),
    ],
)
def test_rule_tells_bad_from_good(rule, bad, good):
    assert list(rule(ast.parse(bad)))
    assert not list(rule(ast.parse(good)))


def test_no_two_test_files_have_one_name():
    names = [path.name for path in (PACKAGE.parent / "test").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
