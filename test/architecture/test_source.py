"""Rules about the source that no linter watches."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "humanoid_dynamics"

MUTABLE_LITERALS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MUTABLE_CALLS = {
    "list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict", "SimpleNamespace",
    "array", "asarray", "zeros", "ones", "eye", "empty", "full", "identity", "arange", "linspace", "diag",
}  # fmt: skip
BROAD = {"Exception", "BaseException"}


def called_name(node):
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""


def top_level_values(tree):
    """Yield the line and value of each assignment made on import: in the module, and in its classes."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for statement in (statement for body in bodies for statement in body):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        is_export_list = any(isinstance(target, ast.Name) and target.id in {"__all__", "__slots__"} for target in targets)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None and not is_export_list:
            yield statement.lineno, statement.value


def mutable_state(tree):
    """Yield lines that leave a value on module or class level which somebody could change later."""
    for line, value in top_level_values(tree):
        if isinstance(value, MUTABLE_LITERALS) or called_name(value) in MUTABLE_CALLS:
            yield line
    yield from (node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global))


def broad_handlers(tree):
    """Yield lines of handlers that would also swallow a programming error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in caught):
                yield node.lineno


def prints(tree):
    """Yield lines that print: a library returns values, only its command line writes, and that through a console."""
    yield from (
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    )


@pytest.mark.parametrize("rule", [mutable_state, broad_handlers, prints])
def test_package_obeys(rule):
    broken = [
        f"{path.relative_to(PACKAGE.parent)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in rule(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("rule", "bad", "good"),
    [
        (mutable_state, "CACHE = {}", "NAMES: Final = ('a', 'b')"),
        (mutable_state, "UP: Array = np.array([0.0, 0.0, 1.0])", "UP = read_only(np.array([0.0, 0.0, 1.0]))"),
        (mutable_state, "class A:\n    seen = []", "class A:\n    seen: tuple[int, ...] = ()"),
        (mutable_state, "TABLE = dict(a=1)", "TABLE = MappingProxyType({'a': 1})"),
        (mutable_state, "def f():\n    global n\n    n = 1", "def f():\n    found = []\n    return found"),
        (mutable_state, "__all__ += [x for x in y]\nCACHE = [0]", "__all__ = ['f']"),
        (broad_handlers, "try:\n    f()\nexcept:\n    pass", "try:\n    f()\nexcept ValueError:\n    pass"),
        (broad_handlers, "try:\n    f()\nexcept (OSError, Exception):\n    pass", "try:\n    f()\nexcept (OSError, KeyError):\n    pass"),
        (prints, "print('x')", "console.print('x')"),
    ],
)
def test_rule_tells_bad_from_good(rule, bad, good):
    assert list(rule(ast.parse(bad)))
    assert not list(rule(ast.parse(good)))
