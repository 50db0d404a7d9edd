# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the package, raised at its interfaces.

They share one root class.  Each message states what was received, what was expected and which names exist.  Control loops raise none of
them: they report numerical problems as a status.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class HumanoidDynamicsError(Exception):
    """Root of all exceptions that this package raises deliberately."""


class SourceError(HumanoidDynamicsError):
    """A robot source (name, path, XML text or object) that cannot be read."""


class UrdfError(HumanoidDynamicsError):
    """A readable URDF that does not describe a valid robot.

    Attributes:
        element: The offending element, such as ``joint 'left_knee'``.
        origin: The file or source it came from.
        line: Line in that file, or None where it is unknown.
    """

    def __init__(self, origin: str, element: str, problem: str, line: int | None = None) -> None:
        self.origin, self.element, self.line = origin, element, line
        place = origin if line is None else f"{origin}:{line}"
        super().__init__(f"{place}: {element}: {problem}")


class DescriptionError(HumanoidDynamicsError):
    """A robot YAML file that violates its schema or refers to unknown names.

    Attributes:
        origin: The YAML file.
        key: Dotted path of the offending key, such as ``surfaces.left_foot.link``.
    """

    def __init__(self, origin: str, key: str, problem: str) -> None:
        self.origin, self.key = origin, key
        super().__init__(f"{origin}: {key}: {problem}")


class UnknownNameError(HumanoidDynamicsError, KeyError):
    """An unknown name; the message lists the known ones.

    Attributes:
        kind: Kind of name, such as ``joint``.
        name: The name received.
        known: The names that exist.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(dict.fromkeys(known))
        close = get_close_matches(name, self.known, n=1) if isinstance(name, str) else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(self.known) if self.known else "none"
        super().__init__(f"no {kind} named {name!r}.{hint} Known: {listed}")

    def __str__(self) -> str:
        return str(self.args[0])


class ShapeError(HumanoidDynamicsError, ValueError):
    """An argument of the wrong shape, or outside its valid range.

    Attributes:
        field: Name of the argument.
    """

    def __init__(self, field: str, received: str, expected: str) -> None:
        self.field = field
        super().__init__(f"{field}: received {received}, expected {expected}")


class SingularInertiaError(HumanoidDynamicsError):
    """A computation that requires inertia, for links without inertia.

    Attributes:
        links: Links whose motion carries no inertia.
    """

    def __init__(self, question: str, links: Iterable[str]) -> None:
        self.links = tuple(links)
        super().__init__(
            f"{question} requires a positive definite mass matrix, but these moving links have no inertia: {', '.join(self.links)}"
        )


class UnsupportedRobotError(HumanoidDynamicsError):
    """A valid robot that a function does not support.

    Attributes:
        joints: The unsupported joints.
    """

    def __init__(self, question: str, joints: Iterable[str], problem: str) -> None:
        self.joints = tuple(joints)
        super().__init__(f"{question}: {problem}: {', '.join(self.joints)}")


class MissingExtraError(HumanoidDynamicsError, ImportError):
    """An optional dependency that is not installed.

    Attributes:
        extra: The extra that installs it.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(
            f"{purpose} requires the package {package!r}: pip install 'humanoid_dynamics[{extra}]'"
        )


class ClipError(HumanoidDynamicsError, ValueError):
    """A motion that cannot be used: a damaged file, a sample that is not finite, or names the robot does not have.

    Attributes:
        origin: The file, or the name of the motion.
        row: Index of the offending sample, counted from 0, or None.
        column: Name of the offending column, or an empty string.
        line: Line in the file, counted from 1, or None where it is unknown.
        problem: Description of the problem.
    """

    def __init__(
        self,
        origin: str,
        problem: str,
        *,
        row: int | None = None,
        column: str = "",
        line: int | None = None,
    ) -> None:
        self.origin, self.row, self.column, self.line, self.problem = (
            origin,
            row,
            column,
            line,
            problem,
        )
        place = origin if line is None else f"{origin}:{line}"
        where = [f"row {row}"] if row is not None else []
        where += [f"column {column!r}"] if column else []
        super().__init__(": ".join(part for part in (place, ", ".join(where), problem) if part))

    def in_lines(self, lines: Sequence[int]) -> ClipError:
        """Return the same error with the line of its row.

        Args:
            lines: Line of each row in the file.
        """
        if self.row is None or self.line is not None:
            return self
        return ClipError(
            self.origin, self.problem, row=self.row, column=self.column, line=lines[self.row]
        )


class RecordError(HumanoidDynamicsError, ValueError):
    """A record of a run, or a bag, that cannot be read or written.

    Attributes:
        origin: The file.
    """

    def __init__(self, origin: str, problem: str) -> None:
        self.origin = origin
        super().__init__(f"{origin}: {problem}")


class BatchError(HumanoidDynamicsError):
    """A batch that cannot start or continue."""


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 row``, ``3 rows``.

    Args:
        number: How many.
        noun: What one is called.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(noun: str, names: Iterable[str]) -> str:
    """Return names behind their noun: ``column a``, ``columns a, b``.

    Args:
        noun: What one is called.
        names: The names.
    """
    known = tuple(names)
    return f"{noun}{'' if len(known) == 1 else 's'} {', '.join(known)}"
