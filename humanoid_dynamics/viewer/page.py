# SPDX-License-Identifier: Apache-2.0
"""The page in the browser: pictures go out, wishes come in.  viser [Viser] draws; nothing is loaded from any network."""

from __future__ import annotations

import contextlib
import io
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import numpy as np
import pinocchio as pin
import viser

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.viewer.access import Access, check_host
from humanoid_dynamics.viewer.bodies import Body
from humanoid_dynamics.viewer.drawing import Drawing
from humanoid_dynamics.viewer.origins import OriginCheck
from humanoid_dynamics.viewer.panel import TOKEN_ORDER, Panel
from humanoid_dynamics.viewer.server import PageServer
from humanoid_dynamics.viewer.session import Session

NEWTONS_PER_METRE = 400.0
LONGEST_QUEUE = 1000
VIEW = read_only([0.84, 0.49])  # from the middle of what is seen to the eye, seen from above
UP, FLAT_UP = 0.21, 1.2  # how far the eye is above, for what is tall and what lies flat
NEAREST = 0.5  # m
FARTHER = 1.3  # on a tall screen
FAR = 1.35  # distance of the eye, as a multiple of the size of the robot
SETTLING, SLOWEST_FRAME = 1.0, 10.0  # s after the first frame, and the longest wait for it
FRAME_SIZE = (16, 16)  # pixels
ASIDE = 0.22  # how far the robot stands left of the middle, or on a tall screen above it, where the panel does not hide it
Wish = Callable[[Session], None]


class Page:
    """One page for all who look.

    Callbacks of the server only put wishes into a queue; the thread that calls ``show`` fulfils them, one by one, and says what was
    refused.

    Attributes:
        access: Who may touch.
    """

    def __init__(
        self,
        session: Session,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        token: str = "",
        origins: Sequence[str] = (),
    ) -> None:
        """Open the page.

        Args:
            session: What is shown.
            host: Address to listen on; anything but this machine needs a token to touch.
            port: Port; the next free one where it is taken.
            token: The token, 16 characters or more; a fresh one where left out and one is needed.
            origins: Other origins under which the page is reached, such as ``https://robot.example`` of a proxy.

        Raises:
            HumanoidDynamicsError: If this machine cannot listen on that address, the token is too short, or an origin is none.
        """
        check_host(host)
        check = OriginCheck(host, origins)
        self.access = Access(host, token, check.named)
        self._wishes: queue.Queue[Wish] = queue.Queue(LONGEST_QUEUE)
        with contextlib.redirect_stdout(io.StringIO()):  # it would announce itself in a frame
            self._server = PageServer(check, host=host, port=port)
        self._server.gui.configure_theme(
            show_logo=False, show_share_button=False, control_width="medium"
        )
        self._connected: dict[int, float] = {}
        self._drawn: dict[int, float] = {}
        self._server.on_client_disconnect(self._forget)
        logging.getLogger("websockets.server").setLevel(
            logging.CRITICAL
        )  # a visitor's nonsense is not worth a traceback
        self._host, self._closing = host, threading.Event()
        self._picture = session.picture()
        self._build(session)
        self._server.on_client_connect(self._look)
        self._server.on_client_connect(self._await_frame)
        if not self.access.open:
            self._server.on_client_connect(self._ask_token)

    @property
    def address(self) -> str:
        """Address of the page, for a browser on this machine."""
        host = "127.0.0.1" if self._host in {"0.0.0.0", "::", "localhost"} else self._host  # noqa: S104 - compared, not bound
        return f"http://{host}:{self._server.get_port()}"

    @property
    def drawn(self) -> bool:
        """Whether a browser has had its first frame on the screen for a second; one that cannot tell counts after ten."""
        now = monotonic()
        return any(
            now > self._drawn.get(client, connected + SLOWEST_FRAME) + SETTLING
            for client, connected in tuple(self._connected.items())
        )

    @property
    def watched(self) -> bool:
        """Whether anyone looks."""
        return bool(self._server.get_clients())

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the end of the page [s]."""
        self._closing.wait(seconds)

    def show(self, session: Session) -> None:
        """Fulfil what was wished and draw how things are now.

        Args:
            session: The session.
        """
        self._fulfil(session)
        if session.bodies is not self._drawing.bodies:
            self._picture = session.picture()
            self._build(session)
        self._picture = picture = session.picture()
        with self._server.atomic():
            self._drawing.update(picture)
            self._panel.update(picture, session.offer)
        self._server.flush()

    def close(self) -> None:
        """Close the page."""
        self._closing.set()
        with contextlib.redirect_stdout(io.StringIO()):  # it would say so
            self._server.stop()

    def wish(self, client: int | None, wish: Wish) -> bool:
        """Take a wish of a visitor; one who may not touch is told so.

        Args:
            client: The visitor.
            wish: What is to be done with the session.

        Returns:
            Whether it will be done.
        """
        if not self.access.allows(client):
            self._panel.say("Watching only: enter the token to touch.")
            return False
        with contextlib.suppress(queue.Full):  # a flood: the oldest wishes are enough
            self._wishes.put_nowait(wish)
        return True

    def _fulfil(self, session: Session) -> None:
        for _ in range(self._wishes.qsize()):
            wish = self._wishes.get_nowait()
            try:
                wish(session)
            except HumanoidDynamicsError as refusal:
                self._panel.say(str(refusal))

    def _build(self, session: Session) -> None:
        """Draw everything anew, as for another robot."""
        self._server.scene.reset()
        self._server.gui.reset()
        self._server.scene.set_up_direction("+z")
        offer = session.offer
        self._drawing = Drawing(self._server, session.bodies, offer)
        for client in self._server.get_clients().values():
            self._look(client)
        self._panel = Panel(self._server, offer, session.course, self.wish)
        if offer.pushable:
            for name, handle in self._drawing.handles.items():
                handle.on_drag("left")(self._on_drag(name))
        for frame, X_WF in offer.frames.items():
            self._add_gizmo(frame, X_WF)

    def _look(self, client: viser.ClientHandle) -> None:
        """Turn the eye of a visitor so that the panel hides nothing: the robot stands at the left, on a tall screen above."""
        poses = self._picture.poses
        if len(poses) != len(self._drawing.bodies):
            return  # another robot is being drawn; it comes again
        eye, target = find_view(self._drawing.bodies, poses)
        view = target - eye
        distance = float(np.linalg.norm(view))
        right = np.cross(view, (0.0, 0.0, 1.0)) / np.linalg.norm(view[:2])
        tall = client.camera.aspect < 1.0
        aside = -ASIDE * distance * (np.array([0.0, 0.0, 1.0]) if tall else -right)
        client.camera.position = tuple(target - view * (FARTHER if tall else 1.0) + aside)
        client.camera.look_at = tuple(target + aside)

    def _await_frame(self, client: viser.ClientHandle) -> None:
        """Note when a browser has drawn for the first time: a picture that is asked for comes after all that was sent before."""
        self._connected[client.client_id] = monotonic()

        def wait() -> None:
            with contextlib.suppress(Exception):  # gone before it has drawn, or too slow
                client.get_render(*FRAME_SIZE, timeout=SLOWEST_FRAME)
                self._drawn[client.client_id] = monotonic()

        threading.Thread(target=wait, daemon=True).start()

    def _forget(self, client: viser.ClientHandle) -> None:
        self.access.forget(client.client_id)
        self._connected.pop(client.client_id, None)

    def _ask_token(self, client: viser.ClientHandle) -> None:
        """Give a visitor a field for the token, of its own: what is typed into a shared field is sent to all visitors."""
        hint = "Needed to touch; watching is free."
        field: Any = client.gui.add_text("Token", initial_value="", hint=hint, order=TOKEN_ORDER)
        button = client.gui.add_button("Unlock", order=TOKEN_ORDER)

        def show(_: Any) -> None:
            given, address = str(field.value), self._server.addresses.get(client.client_id, "")
            field.value = ""
            if self.access.show(client.client_id, given, address):
                field.remove()
                button.remove()
                self._panel.say("You may touch now.")
            elif locked := self.access.lockout(address):
                self._panel.say(f"Too many wrong tokens: none is accepted for {locked:.0f} s.")
            else:
                self._panel.say("That is not the token.")

        button.on_click(show)

    def _on_drag(self, body: str) -> Callable[[Any], None]:
        X_BL = next(b.X_JL for b in self._drawing.bodies if b.name == body).inverse()

        def dragged(event: Any) -> None:
            start, end = np.array(event.start_position), np.array(event.end_position)
            force = np.zeros(3) if event.phase == "end" else NEWTONS_PER_METRE * (end - start)
            point = X_BL.act(_into(event.target, start))
            self.wish(event.client_id, lambda session: session.pull(body, point, force))
            self._drawing.show_pull(
                start, end, event.phase != "end" and self.access.allows(event.client_id)
            )

        return dragged

    def _add_gizmo(self, frame: str, X_WF: pin.SE3) -> None:
        x, y, z, w = pin.Quaternion(X_WF.rotation).coeffs()
        gizmo = self._server.scene.add_transform_controls(
            f"/lead/{frame}",
            scale=0.15,
            wxyz=(w, x, y, z),
            position=tuple(X_WF.translation),
            depth_test=False,
        )
        home = (gizmo.wxyz, gizmo.position)

        def led(event: Any) -> None:
            w, x, y, z = (float(value) for value in gizmo.wxyz)
            quaternion, place = np.array((x, y, z, w)), np.array(gizmo.position, dtype=float)
            if not _sound(quaternion, place):
                return
            X = pin.SE3(pin.Quaternion(quaternion / np.linalg.norm(quaternion)).matrix(), place)
            if not self.wish(event.client_id, lambda session: session.lead(frame, X)):
                gizmo.wxyz, gizmo.position = home

        gizmo.on_update(led)


def find_view(bodies: Sequence[Body], poses: Matrix) -> tuple[Vector, Vector]:
    """Return where to see a robot from, a little from the side and from above, and where to look.

    Args:
        bodies: What is drawn.
        poses: (n, 7) where they are: position [m] and quaternion w x y z.

    Returns:
        (3,) place of the eye and (3,) what it looks at [m].
    """
    corners = []
    for body, (x, y, z, qw, qx, qy, qz) in zip(bodies, poses, strict=True):
        X_WB = pin.XYZQUATToSE3(np.array([x, y, z, qx, qy, qz, qw]))
        corners.append(body.surface.vertices @ X_WB.rotation.T + X_WB.translation)
    cloud = np.vstack(corners) if corners else np.zeros((1, 3))
    lowest, highest = cloud.min(axis=0), cloud.max(axis=0)
    middle, size = 0.5 * (lowest + highest), float(np.linalg.norm(highest - lowest))
    up = (
        FLAT_UP + (UP - FLAT_UP) * min(1.0, 2.0 * float(highest[2] - lowest[2]) / size)
        if size > 0.0
        else UP
    )
    away = np.array([*VIEW, up])
    return middle + max(NEAREST, FAR * size) * away / np.linalg.norm(away), middle


def _into(handle: Any, place: Vector) -> Vector:
    """Return a place of the world in the frame of what is drawn there."""
    w, x, y, z = (float(value) for value in handle.wxyz)
    R: Matrix = pin.Quaternion(np.array((x, y, z, w))).matrix()
    return np.asarray(R.T @ (place - np.array(handle.position)))


def _sound(quaternion: Vector, place: Vector) -> bool:
    size = float(np.linalg.norm(quaternion))
    return bool(np.isfinite(place).all()) and np.isfinite(size) and size > 0.0
