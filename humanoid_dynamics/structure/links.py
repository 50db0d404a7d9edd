# SPDX-License-Identifier: Apache-2.0
"""Connectivity by four pointers: parent, child, brother and real [SV, sec. 3].

``child`` is the first link further out, ``brother`` the next link with the same parent.  A closed loop is one *virtual* link: it hangs on
one of the two links of the joint that closes the loop, and ``real`` points to the other.  It has the values of that joint, but no mass.

Connecting a loop, connecting to the ground and connecting to another free chain are one procedure: create a virtual link and add it as
a child.  Cutting is the reverse.  No parent becomes a child and nothing is renumbered [SV, sec. 4.2].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel

BASE = "world"


@dataclass(eq=False)
class Link:
    """One link and its four pointers [SV, fig. 2-4]; changed by its structure only.

    Attributes:
        name: Name of the link.
        joint: Kind of the joint between the link and its parent; empty for the base.
        parent: Next link towards the base.
        child: First link further out.
        brother: Next link with the same parent.
        real: On a virtual link, the link it stands for.
        loop: On a virtual link, the geometry of its joint.
    """

    name: str
    joint: str = ""
    parent: Link | None = None
    child: Link | None = None
    brother: Link | None = None
    real: Link | None = None
    loop: LoopClosure | None = None

    def __repr__(self) -> str:
        names = (
            f"{key}={link.name}"
            for key in ("parent", "child", "brother", "real")
            if (link := getattr(self, key)) is not None
        )
        return f"Link({', '.join((self.name, *names))})"

    @property
    def is_virtual(self) -> bool:
        """Whether the link closes a loop and stands for another one."""
        return self.real is not None

    @property
    def children(self) -> Iterator[Link]:
        """Links that hang on this one, first to last."""
        link = self.child
        while link is not None:
            yield link
            link = link.brother


class Structure:
    """Links of a chain whose connections come and go.

    Attributes:
        base: The ground, on which everything hangs.
    """

    def __init__(
        self, tree: Iterable[tuple[str, str, str]], rigid: Mapping[str, str] | None = None
    ) -> None:
        """Hang links on each other.

        Args:
            tree: (link, parent link, joint kind) with parents before children; ``world`` is the base.
            rigid: Further name -> link that it is part of, such as a sole and its foot.

        Raises:
            UnknownNameError: If a parent has not been named before.
            HumanoidDynamicsError: If a link is named twice.
        """
        self.base = Link(BASE)
        self._links: dict[str, Link] = {BASE: self.base}
        self._virtual: dict[str, Link] = {}
        self._rigid = dict(rigid or {})
        last: dict[str, Link] = {}
        for name, parent, kind in tree:
            link = self._enter(Link(name, kind, self.link(parent)))
            if parent in last:
                last[parent].brother = link
            else:
                self._links[parent].child = link
            last[parent] = link

    @classmethod
    def of(cls, robot: RobotModel) -> Structure:
        """Return the structure of a robot, its loops as virtual links.

        Args:
            robot: The robot.

        Returns:
            One link per joint of the tree and one virtual link per loop.
        """
        carried = {0: BASE} | {joint.index: joint.child for joint in robot.joints}
        rigid = {
            link: carried.get(int(robot.model.frames[robot.link_frame(link)].parentJoint), BASE)
            for link in robot.links
        }
        structure = cls(
            (
                (joint.child, carried[int(robot.model.parents[joint.index])], joint.kind)
                for joint in robot.joints
            ),
            rigid,
        )
        for loop in robot.loops:
            structure.connect(loop)
        return structure

    def __len__(self) -> int:
        """Return the number of links, the base and virtual ones included."""
        return len(self._links) + len(self._virtual)

    @property
    def virtual(self) -> tuple[Link, ...]:
        """All closed loops: their virtual links, oldest first [SV, sec. 3.2]."""
        return tuple(self._virtual.values())

    @property
    def loops(self) -> tuple[LoopClosure, ...]:
        """Geometry of all closed loops."""
        return tuple(link.loop for link in self._virtual.values() if link.loop is not None)

    def link(self, name: str) -> Link:
        """Return a link, real or virtual; of a rigid part, the link it is part of.

        Raises:
            UnknownNameError: If there is none of that name.
        """
        link = (
            self._links.get(name)
            or self._virtual.get(name)
            or self._links.get(self._rigid.get(name, ""))
        )
        if link is None:
            raise UnknownNameError("link", name, (*self._links, *self._virtual))
        return link

    def connect(self, loop: LoopClosure) -> Link:
        """Connect two links, or a link and the ground, by a new joint [SV, sec. 4.2, fig. 5-9].

        (1) Create a virtual link whose real link is link A; (2) add it as a child of link B.

        Args:
            loop: The new joint.

        Returns:
            The virtual link; its name is the handle to cut with.

        Raises:
            UnknownNameError: If a link does not exist.
            HumanoidDynamicsError: If a link of that name exists already.
        """
        virtual = Link(
            loop.name, loop.kind, self.link(loop.link_b), real=self.link(loop.link_a), loop=loop
        )
        self._refuse_twice(loop.name)
        self._virtual[loop.name] = virtual
        _add_child(virtual)
        return virtual

    def cut(self, name: str) -> LoopClosure:
        """Cut the joint of a virtual link by deleting the link [SV, sec. 4.2].

        Args:
            name: Name of the loop.

        Returns:
            The joint that was.

        Raises:
            UnknownNameError: If there is no such loop.
        """
        if name not in self._virtual:
            raise UnknownNameError("closed loop", name, self._virtual)
        virtual = self._virtual.pop(name)
        _remove_child(virtual)
        if virtual.loop is None:  # pragma: no cover  (connect always gives one)
            raise HumanoidDynamicsError(f"closed loop {name!r} has no geometry")
        return virtual.loop

    def free(self, name: str) -> Link:
        """Cut the joint between a link and its parent; the link and all behind it hang on the base by a free joint [SV, sec. 5.2, fig. 10].

        Args:
            name: Name of the link.

        Returns:
            The link.

        Raises:
            UnknownNameError: If there is no such link.
            HumanoidDynamicsError: If it is the base or a virtual link.
        """
        link = self.link(name)
        if link.parent is None or link.is_virtual:
            raise HumanoidDynamicsError(
                f"{name!r} is {'virtual' if link.is_virtual else 'the base'}; only a link of the tree can be freed"
            )
        _remove_child(link)
        link.parent, link.joint = self.base, "free_flyer"
        _add_child(link)
        return link

    def outward(self, start: Link | None = None) -> Iterator[Link]:
        """Visit links from the base out: itself, then child, then brother; the order of velocities and accelerations [SV, sec. 3.1].

        Args:
            start: Root of the part to visit; the base where left out.

        Yields:
            Every link once, parents before children; any length of chain.
        """
        root = start or self.base
        stack = [root]
        while stack:
            link = stack.pop()
            yield link
            if link.brother is not None and link is not root:
                stack.append(link.brother)
            if link.child is not None:
                stack.append(link.child)

    def inward(self, start: Link | None = None) -> Iterator[Link]:
        """Visit links from the ends in: child and brother before itself; the order of forces [SV, sec. 3.1].

        Args:
            start: Root of the part to visit; the base where left out.

        Yields:
            Every link once, children before parents; any length of chain.
        """
        yield from reversed(list(self.outward(start)))

    def around(self, name: str) -> tuple[Link, ...]:
        """Return the links of a closed loop, from the virtual link's parent to its real link by way of the tree.

        Args:
            name: Name of the loop.

        Returns:
            The links, neighbours side by side.

        Raises:
            UnknownNameError: If there is no such loop.
        """
        if name not in self._virtual:
            raise UnknownNameError("closed loop", name, self._virtual)
        virtual = self._virtual[name]
        up, down = list(_to_base(virtual.parent)), list(_to_base(virtual.real))
        while len(up) > 1 and len(down) > 1 and up[-2] is down[-2]:
            up.pop()
            down.pop()
        return (*up, *reversed(down[:-1]))

    def _enter(self, link: Link) -> Link:
        self._refuse_twice(link.name)
        self._links[link.name] = link
        return link

    def _refuse_twice(self, name: str) -> None:
        if name in self._links or name in self._virtual:
            raise HumanoidDynamicsError(f"a link named {name!r} exists already")


def _add_child(link: Link) -> None:
    """Put a link first among the children of its parent."""
    if link.parent is not None:
        link.brother, link.parent.child = link.parent.child, link


def _remove_child(link: Link) -> None:
    """Take a link out of the children of its parent."""
    parent = link.parent
    if parent is None:
        return
    if parent.child is link:
        parent.child = link.brother
    else:
        elder = next(child for child in parent.children if child.brother is link)
        elder.brother = link.brother
    link.brother = None


def _to_base(link: Link | None) -> Iterator[Link]:
    while link is not None:
        yield link
        link = link.parent
