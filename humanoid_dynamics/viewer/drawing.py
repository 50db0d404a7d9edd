# SPDX-License-Identifier: Apache-2.0
"""Everything in the three dimensions of the page, moved picture by picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.viewer.bodies import Body
from humanoid_dynamics.viewer.picture import Picture
from humanoid_dynamics.viewer.session import Offer

DRAWN, SKETCHED, GHOST = (120, 144, 176), (168, 150, 122), (90, 200, 140)
FORCE, PULL, PRESSURE, CENTRE, SUPPORT = (
    (214, 62, 52),
    (240, 160, 30),
    (30, 110, 220),
    (250, 205, 60),
    (30, 110, 220),
)
HIDDEN = read_only(np.zeros((1, 2, 3)))
STILL = 1e-6  # a pose that changes less is not sent again
FAR = (0.0, 0.0, -100.0)


class Drawing:
    """What is in the scene, and how it is moved.

    Attributes:
        bodies: What is drawn of the robot.
        handles: Body -> its node on the page.
    """

    def __init__(self, server: viser.ViserServer, bodies: tuple[Body, ...], offer: Offer) -> None:
        self.bodies = bodies
        scene = server.scene
        self._scene = scene
        server.scene.configure_default_lights(enabled=True, cast_shadow=False)
        self.handles = {
            body.name: self._add_body(
                f"/robot/{body.name}", body, DRAWN if body.drawn else SKETCHED
            )
            for body in bodies
        }
        self._ghosts: list[Any] = []
        self._poses = np.full((len(bodies), 7), np.inf)
        self._floor = offer.floor or 0.0
        if offer.floor is not None:
            scene.add_grid(
                "/floor",
                position=(0.0, 0.0, offer.floor),
                width=4.0,
                height=4.0,
                cell_size=0.25,
                section_size=1.0,
                shadow_opacity=0.0,
            )
        if offer.still is not None:
            scene.add_line_segments("/still", points=offer.still, colors=(110, 110, 110))
        self._forces = scene.add_arrows(
            "/forces", HIDDEN, FORCE, shaft_radius=0.012, head_radius=0.03, head_length=0.06
        )
        self._pull = scene.add_arrows(
            "/pull", HIDDEN, PULL, shaft_radius=0.01, head_radius=0.03, head_length=0.06
        )
        self._pull.visible = False
        self._support = scene.add_line_segments("/support", points=HIDDEN, colors=SUPPORT)
        self._com = scene.add_icosphere("/com", radius=0.03, color=CENTRE, cast_shadow=False)
        self._drop = scene.add_line_segments("/com_drop", points=HIDDEN, colors=CENTRE)
        self._cops = [
            scene.add_icosphere(
                f"/cop/{k}", radius=0.015, color=PRESSURE, position=FAR, cast_shadow=False
            )
            for k in range(4)
        ]

    def update(self, picture: Picture) -> None:
        """Draw a picture; only what has moved is sent."""
        self._move(picture.poses)
        self._move_ghost(picture.ghost)
        self._forces.visible = len(picture.forces) > 0
        if len(picture.forces):
            self._forces.points = picture.forces.astype(np.float32)
        self._support.visible = len(picture.support) > 2
        if len(picture.support) > 2:
            rim = np.stack((picture.support, np.roll(picture.support, -1, axis=0)), axis=1)
            self._support.points = rim.astype(np.float32)
        self._com.position = tuple(picture.com)
        self._drop.points = np.array(
            [[picture.com, (*picture.com[:2], self._floor)]], dtype=np.float32
        )
        for k, handle in enumerate(self._cops):
            handle.visible = k < len(picture.cops)
            if k < len(picture.cops):
                handle.position = tuple(picture.cops[k])

    def show_pull(self, start: Vector, end: Vector, visible: bool) -> None:
        """Draw the arrow of a pull, or take it away."""
        self._pull.visible = visible
        if visible:
            self._pull.points = np.array([[start, end]], dtype=np.float32)

    def _move(self, poses: Matrix) -> None:
        moved = np.abs(poses - self._poses).max(axis=1, initial=0.0) > STILL
        for k in np.flatnonzero(moved).tolist():
            handle = self.handles[self.bodies[k].name]
            handle.position, handle.wxyz = poses[k, :3], poses[k, 3:]
        self._poses = poses

    def _move_ghost(self, poses: Matrix | None) -> None:
        if poses is not None and not self._ghosts:
            self._ghosts = [
                self._add_body(f"/ghost/{body.name}", body, GHOST, opacity=0.35)
                for body in self.bodies
            ]
        for k, ghost in enumerate(self._ghosts):
            ghost.visible = poses is not None
            if poses is not None:
                ghost.position, ghost.wxyz = poses[k, :3], poses[k, 3:]

    def _add_body(
        self, name: str, body: Body, colour: tuple[int, int, int], opacity: float | None = None
    ) -> Any:
        surface = body.surface
        return self._scene.add_mesh_simple(
            name,
            surface.vertices,
            surface.faces,
            color=colour,
            opacity=opacity,
            flat_shading=False,
            cast_shadow=False,
            receive_shadow=False,
        )
