# SPDX-License-Identifier: Apache-2.0
"""The web server of the page: viser's, with a check before every request and handshake, and no way to be published elsewhere."""

from __future__ import annotations

import inspect
import threading
from contextvars import ContextVar
from typing import Any

import viser
import websockets.asyncio.server

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.viewer.origins import OriginCheck

LARGEST_MESSAGE = 2**20  # bytes; drags, poses and values of fields are far smaller
FORBIDDEN = 403
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
CONTENT = (  # viser's client is one file with its scripts, styles, fonts and WebAssembly in it
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
    "connect-src 'self' data: blob:{sockets}; frame-ancestors 'self'{parents}"
)
_serving = threading.Lock()
_address: ContextVar[str] = ContextVar("address", default="")


class PageServer(viser.ViserServer):
    """A viser server that refuses requests an ``OriginCheck`` does not accept.

    Attributes:
        addresses: Client -> network address it comes from.
    """

    addresses: dict[int, str]

    def __init__(self, check: OriginCheck, *, host: str, port: int) -> None:
        """Open the server.

        Args:
            check: Which requests are accepted.
            host: Address to listen on.
            port: Port; the next free one where it is taken.

        Raises:
            HumanoidDynamicsError: If viser is of a version that cannot be checked.
        """
        guarded, serve = [], websockets.asyncio.server.serve

        def serve_checked(handler: Any, *arguments: Any, **options: Any) -> Any:
            guarded.append(True)
            return serve(_with_address(handler), *arguments, **_check_requests(check, options))

        with (
            _serving
        ):  # viser has no option for any of this; its server starts within its constructor
            websockets.asyncio.server.serve = serve_checked  # type: ignore[assignment,misc]
            try:
                super().__init__(host=host, port=port, label="humanoid_dynamics", verbose=False)
            finally:
                websockets.asyncio.server.serve = serve  # type: ignore[misc]
        if not guarded:
            self.stop()
            raise HumanoidDynamicsError(
                f"viser {viser.__version__} serves in a way this package does not know; expected 1.0 or 1.1"
            )
        self.addresses = {}

        def arrive(client: Any) -> None:
            self.addresses[client.client_id] = _address.get()

        def leave(client: Any) -> None:
            self.addresses.pop(client.client_id, None)

        self._websock_server.on_client_connect(arrive)
        self._websock_server.on_client_disconnect(leave)

    def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002 - as it is called
        """Refuse: the page never asks another server to publish it."""
        return None


def _check_requests(check: OriginCheck, options: dict[str, Any]) -> dict[str, Any]:
    """Return options of a WebSocket server with which requests are checked and messages are small."""
    answer = options["process_request"]

    async def process_request(connection: Any, request: Any) -> Any:
        local = connection.local_address[:2]
        refusal = check.refuse(request.path, request.headers, local)
        if refusal:
            response = connection.respond(FORBIDDEN, f"{refusal}\n")
        else:
            response = answer(connection, request)
            if inspect.isawaitable(response):
                response = await response
        if response is not None:
            response.headers.update(HEADERS)
            response.headers["Content-Security-Policy"] = _content_policy(
                check, request.headers.get_all("Host"), bool(refusal)
            )
        return response

    return {**options, "process_request": process_request, "max_size": LARGEST_MESSAGE}


def _content_policy(check: OriginCheck, hosts: list[str], refused: bool) -> str:
    """Return what the page may load: itself, and its own socket."""
    sockets = (
        ""
        if refused
        else "".join(f" {scheme}://{host}" for scheme in ("ws", "wss") for host in hosts)
    )
    return CONTENT.format(sockets=sockets, parents="".join(f" {origin}" for origin in check.named))


def _with_address(handler: Any) -> Any:
    """Return a handler of connections that knows where each comes from."""

    async def handle(connection: Any) -> None:
        remote = connection.remote_address
        _address.set(str(remote[0]) if remote else "")
        await handler(connection)

    return handle
