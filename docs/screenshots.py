# SPDX-License-Identifier: Apache-2.0
"""Take pictures of the page in a browser: ``docs/images/page_NAME.png``.

``python docs/screenshots.py`` takes them all; ``--only NAME`` takes one.  Needs Chromium and its driver, the extras ``viewer`` and
``test``.  The browser draws without a graphics card, which takes some seconds a picture.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.simulation.scenes.names import scene_names
from humanoid_dynamics.viewer.opening import show
from humanoid_dynamics.viewer.page import Page
from humanoid_dynamics.viewer.world_session import WorldSession

IMAGES = Path(__file__).resolve().parent / "images"
PREFIX = "page_"
WIDTH, HEIGHT = 1100, 700
FLAGS = (
    *(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
    ),
    *(
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ),
    "--hide-scrollbars",
)
CLOSE_NOTICES = "document.querySelectorAll('.mantine-Notification-closeButton').forEach(button => button.click())"
STEP = 0.03  # s of the scene between two pictures of the plots
SETTLING = 6.0  # s until a browser without a graphics card has drawn everything

# When a scene shows best what it is about [s]; a second after its beginning where left out.
INSTANTS = {
    "standing": 1.5,
    "pushed": 2.25,
    "swing": 1.2,
    "highbar": 0.8,
    "ropes": 1.4,
    "falling": 0.85,
    "talos_drop": 0.9,
    "g1_drop": 0.9,
    "snake": 9.0,
    "steps": 0.65,
    "tipping_box": 0.5,
    "sliding_box": 0.5,
    "biped_step": 0.45,
    "collisions": 0.6,
    "highbar_regrasp": 0.7,
}


@dataclass(frozen=True)
class Shot:
    """A picture of the page.

    Attributes:
        scene: The scene.
        t: When [s].
        size: Width and height of the window.
    """

    scene: str
    t: float
    size: tuple[int, int] = (WIDTH, HEIGHT)


def list_shots() -> dict[str, Shot]:
    """Return all pictures by their names."""
    shots = {name: Shot(name, INSTANTS.get(name, 1.0)) for name in scene_names()}
    return {**shots, "phone": Shot("pushed", INSTANTS["pushed"], (500, 850))}


def main(arguments: Sequence[str] | None = None) -> int:
    """Take pictures.

    Args:
        arguments: Of the command line.

    Returns:
        Exit code: 1 where there is no browser.
    """
    shots = list_shots()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        choices=list(shots),
        help="take this picture alone",
    )
    parser.add_argument(
        "--dir", type=Path, default=IMAGES, help="where to; docs/images where not given"
    )
    options = parser.parse_args(arguments)
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        sys.stderr.write("needs chromium and chromedriver (Debian: chromium chromium-driver)\n")
        return 1
    options.dir.mkdir(parents=True, exist_ok=True)
    with open_browser() as browser:
        for name in options.only or shots:
            path = options.dir / f"{PREFIX}{name}.png"
            try:
                told = f"{take(browser, shots[name], path) / 1000:.0f} kB"
            except HumanoidDynamicsError as missing:
                told = f"left out: {missing}"
            sys.stdout.write(f"{path.name}: {told}\n")
            sys.stdout.flush()
    return 0


@contextmanager
def open_browser() -> Iterator[Any]:
    """Open a browser that draws without a graphics card.

    Yields:
        Its driver.
    """
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )
    try:
        yield driver
    finally:
        driver.quit()


def take(browser: Any, shot: Shot, path: Path) -> int:
    """Run a scene up to an instant, open it and take its picture.

    Args:
        browser: The driver of a browser.
        shot: What to take.
        path: The PNG.

    Returns:
        Size of the file [bytes].
    """
    session = WorldSession(shot.scene)
    if session.offer.events:
        session.play_events()
    page = Page(session, port=18321)
    try:
        rehearse(page, session, shot.t)
        session.pause(True)
        resize(browser, *shot.size)
        browser.get(page.address)
        show(page, session, rate=4.0, seconds=SETTLING, waits=False)
        browser.execute_script(CLOSE_NOTICES)
        show(page, session, rate=4.0, seconds=1.0, waits=False)
        save(browser.get_screenshot_as_png(), path)
    finally:
        page.close()
    return path.stat().st_size


def rehearse(page: Page, session: WorldSession, until: float) -> None:
    """Let a scene go on, with its plots, without being in anybody's time."""
    t = 0.0
    while t < until:
        session.advance(STEP)
        page.show(session)
        t += STEP


def resize(browser: Any, width: int, height: int) -> None:
    """Give the page, not the window around it, a size."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )


def save(png: bytes, path: Path) -> None:
    """Save a picture without a layer of transparency, as small as it goes."""
    from PIL import Image

    Image.open(io.BytesIO(png)).convert("RGB").save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
