# SPDX-License-Identifier: Apache-2.0
"""A browser that draws without a graphics card, and a hand in it."""

import shutil
from typing import Any

import numpy as np

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "needs chromium and chromedriver (Debian: chromium chromium-driver)"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader "
    "--disable-dev-shm-usage --no-first-run --disable-background-networking --disable-component-update --disable-sync "
    "--window-size=1000,700"
)


def start_browser() -> Any:
    """Return the driver of a fresh browser."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for flag in FLAGS.split():
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))


def find_canvas(browser: Any) -> Any:
    from selenium.webdriver.common.by import By

    return browser.find_elements(By.CSS_SELECTOR, "canvas")[0]


def on_screen(browser: Any, page: Any, place: Any) -> np.ndarray:
    """Return where a place of the world is seen, in pixels from the middle of the canvas."""
    camera = next(iter(page._server.get_clients().values())).camera
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    away = np.asarray(place) - camera.position
    scale = 0.5 * find_canvas(browser).size["height"] / np.tan(0.5 * camera.fov)
    return scale * np.array([away @ right, -away @ np.cross(right, ahead)]) / (away @ ahead)


def drag(browser: Any, start: Any, steps: int, by: tuple[int, int]) -> None:
    """Drag from a place, given from the middle of the canvas."""
    from selenium.webdriver.common.action_chains import ActionChains

    action = (
        ActionChains(browser, duration=50)
        .move_to_element_with_offset(find_canvas(browser), *map(int, start))
        .click_and_hold()
    )
    for _ in range(steps):
        action.move_by_offset(*by)
    action.release().perform()
