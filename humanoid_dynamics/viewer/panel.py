# SPDX-License-Identifier: Apache-2.0
"""The controls and the plots beside the drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import viser

from humanoid_dynamics.viewer.picture import Picture
from humanoid_dynamics.viewer.plots import Plots
from humanoid_dynamics.viewer.session import Offer, Sample, Session

PLOT_EVERY = 6  # pictures
TOKEN_ORDER = 1.0  # below title and status, above everything else
FALLEN = "**It has fallen.**"
Wish = Callable[[Session], None]
Take = Callable[["int | None", Wish], bool]  # a visitor and a wish; whether it will be done


class Panel:
    """Buttons, choices, plots and one line that says how things are."""

    def __init__(
        self, server: viser.ViserServer, offer: Offer, course: Sequence[Sample], take: Take
    ) -> None:
        self._server, self._take, self._offer = server, take, offer
        self._count, self._said = 0, ""
        gui = server.gui
        gui.add_markdown(offer.title, order=0.0)
        self._status = gui.add_markdown("", order=0.0)
        self._rise = gui.add_button("Stand up again", color="green", visible=False)
        self._rise.on_click(lambda event: self._send(event, lambda session: session.reset()))
        self._add_time(offer)
        self._add_choices(offer)
        if offer.events:
            gui.add_button("Play events").on_click(
                lambda event: self._send(event, lambda session: session.play_events())
            )
        self._switches = {
            name: self._add_switch(name, closed) for name, closed in offer.connections.items()
        }
        hints = ["Drag a link to pull it."] if offer.pushable else []
        hints += (
            ["Drag the coloured axes to lead a hand, the head or the pelvis."]
            if offer.frames
            else []
        )
        if hints:
            gui.add_markdown(" ".join(hints))
        if offer.strength is not None:
            self._add_strength(*offer.strength)
        self._plots = Plots(server, offer.motors, offer.weight, course)

    def say(self, text: str) -> None:
        """Say something until something else is to be said."""
        self._said = text

    def update(self, picture: Picture, offer: Offer) -> None:
        """Show numbers, plots and state."""
        self._count += 1
        self._plots.put(picture)
        if self._count % PLOT_EVERY:
            return
        self._write_status(picture)
        self._follow(offer)
        self._plots.draw()

    def _write_status(self, picture: Picture) -> None:
        fallen = FALLEN if picture.fallen else ""
        lines = [
            f"t = {picture.t:.2f} s",
            *(line for line in (fallen, picture.status, self._said) if line),
        ]
        text = "  \n".join(lines)
        if self._status.content != text:
            self._status.content = text
        if self._rise.visible != picture.fallen:
            self._rise.visible = picture.fallen

    def _follow(self, offer: Offer) -> None:
        for name, closed in offer.connections.items():
            button = self._switches[name]
            label = f"Release {name}" if closed else f"Grip {name}"
            if button.label != label:
                button.label = label
        self._offer = offer

    def _send(self, event: Any, wish: Wish) -> None:
        self._take(event.client_id, wish)

    def _add_time(self, offer: Offer) -> None:
        gui = self._server.gui
        pause = gui.add_button_group("Time", ("pause", "go on", "step", "reset"))

        def pressed(event: Any) -> None:
            wishes: dict[str, Wish] = {
                "pause": lambda session: session.pause(True),
                "go on": lambda session: session.pause(False),
                "step": lambda session: session.step(),
                "reset": lambda session: session.reset(),
            }
            wish = wishes.get(str(event.target.value))
            if wish is not None:
                self._send(event, wish)

        pause.on_click(pressed)
        if offer.length is not None:
            slider = gui.add_slider(
                "Position [s]", min=0.0, max=offer.length, step=0.01, initial_value=0.0
            )
            slider.on_update(
                lambda event: self._send(event, lambda session: session.seek(float(slider.value)))
            )
        if offer.heading is not None:
            wheel = gui.add_slider(
                "Heading [rad]", min=-3.14, max=3.14, step=0.01, initial_value=offer.heading
            )
            wheel.on_update(
                lambda event: self._send(event, lambda session: session.steer(float(wheel.value)))
            )

    def _add_choices(self, offer: Offer) -> None:
        gui = self._server.gui
        if offer.scenes:
            scenes = gui.add_dropdown("Scene", offer.scenes, initial_value=offer.scenes[0])
            scenes.on_update(
                lambda event: self._send(
                    event, lambda session: session.choose_scene(str(scenes.value))
                )
            )
        if offer.rules:
            rules = gui.add_dropdown("Rule", offer.rules, initial_value=offer.rules[0])
            rules.on_update(
                lambda event: self._send(
                    event, lambda session: session.choose_rule(str(rules.value))
                )
            )

    def _add_strength(self, first: float, most: float) -> None:
        slider = self._server.gui.add_slider(
            "Strongest pull [N]",
            min=5.0,
            max=float(int(most)),
            step=1.0,
            initial_value=float(int(first)),
            hint="More may fell the robot.",
        )
        slider.on_update(
            lambda event: self._send(event, lambda session: session.limit_pull(float(slider.value)))
        )

    def _add_switch(self, name: str, closed: bool) -> Any:
        button = self._server.gui.add_button(f"Release {name}" if closed else f"Grip {name}")
        button.on_click(
            lambda event: self._send(
                event,
                lambda session: session.switch(name, not self._offer.connections.get(name, closed)),
            )
        )
        return button
