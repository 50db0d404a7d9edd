# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: drawn, pulled, led, switched.  Needs Chromium and its driver; skips, saying so, where they are absent."""

import io
from collections.abc import Iterator
from threading import Event
from typing import Any

import numpy as np
import pytest
from browsers import BROWSER, DRIVER, MISSING, drag, on_screen, start_browser
from visitors import Diary, shown, wait_for

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.viewer.page import Page
from humanoid_dynamics.viewer.playback import play_clip
from humanoid_dynamics.viewer.world_session import WorldSession

pytest.importorskip("selenium", reason="selenium is not installed")
Image = pytest.importorskip("PIL.Image", reason="pillow is not installed")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def stage(browser: Any) -> Iterator[tuple[Diary, Page]]:
    """A page that is open in the browser, with the robot drawn; opened once, since a browser without a graphics card needs seconds."""
    session = Diary()
    with shown(session, rate=10.0) as page:
        browser.get(page.address)
        assert wait_for(lambda: blue_share(browser) > 0.01, 60.0), "the robot never appeared"
        yield session, page


@pytest.fixture
def diary(stage: tuple[Diary, Page]) -> Diary:
    stage[0].asked.clear()
    return stage[0]


@pytest.fixture
def page(stage: tuple[Diary, Page]) -> Page:
    return stage[1]


def text(browser: Any) -> str:
    return str(browser.execute_script("return document.body.innerText"))


def picture(browser: Any) -> np.ndarray:
    """Return what is seen, the panel at the right left out (h, w, 3)."""
    image = np.asarray(
        Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB"), dtype=int
    )
    return image[:, : int(0.64 * image.shape[1])]


def blue_share(browser: Any) -> float:
    """Return the share of pixels in the colour of bodies their maker has drawn, light or shadow."""
    r, g, b = np.moveaxis(picture(browser), 2, 0)
    return float(np.mean((b - r > 25) & (b - r < 90) & (g - r > 5) & (b > 60)))


def button(browser: Any, label: str) -> Any:
    named = f"//button[normalize-space()='{label}']"
    return wait_for(lambda: browser.find_elements(By.XPATH, named), 30.0)[0]


def test_the_robot_is_drawn_and_moves(browser: Any, diary: Diary) -> None:
    before = picture(browser)
    assert wait_for(lambda: np.mean(np.abs(picture(browser) - before).max(axis=2) > 20) > 0.002)


def test_a_drag_on_a_link_pulls_it_that_way(browser: Any, diary: Diary, page: Page) -> None:
    drag(browser, on_screen(browser, page, diary.picture().com), 10, (12, 0))
    assert wait_for(lambda: len(diary.find("pull")) > 2 and not diary.find("pull")[-1][3].any())
    _, body, _, force = max(diary.find("pull"), key=lambda entry: np.linalg.norm(entry[3]))
    assert body in {"pelvis", "torso", "lumbar"}
    assert np.linalg.norm(force) > 20.0
    assert force[1] > 0.5 * np.linalg.norm(
        force
    )  # seen from the front, right on the page is left of the robot


def test_a_dragged_gizmo_asks_for_a_pose(browser: Any, diary: Diary, page: Page) -> None:
    middle = on_screen(browser, page, diary.offer.frames["head"].translation)
    for place in (
        (0, -15),
        (0, -25),
        (10, 3),
        (20, 6),
        (-10, 3),
        (-20, 6),
    ):  # its handles are small
        drag(browser, middle + place, 6, (6, -4))
        if wait_for(lambda: diary.find("lead"), 1.0):
            break
    assert diary.find("lead"), "no handle was met"
    _, frame, X_WF = diary.find("lead")[-1]
    assert frame == "head"
    start = diary.offer.frames["head"]
    assert not X_WF.isApprox(start, 1e-3)
    assert np.linalg.norm(X_WF.translation - start.translation) < 1.0


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Release hand", ("switch", "hand", False)),
        ("pause", ("pause", True)),
        ("step", ("step",)),
        ("reset", ("reset",)),
    ],
)
def test_a_button_is_heard(
    browser: Any, diary: Diary, label: str, expected: tuple[Any, ...]
) -> None:
    button(browser, label).click()
    assert wait_for(lambda: expected in diary.asked)


def test_a_refusal_is_told(browser: Any, diary: Diary, page: Page) -> None:
    page.wish(None, lambda session: session.choose_scene("there"))
    assert wait_for(lambda: "no scene 'there' today" in text(browser))


def test_plots_show_numbers(browser: Any, diary: Diary) -> None:
    assert wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, ".uplot canvas"))
    assert "height" in text(browser)


def test_torques_of_each_leg_have_a_plot_and_another_limb_can_be_chosen(
    browser: Any, diary: Diary
) -> None:
    assert wait_for(
        lambda: "left leg [N·m]" in text(browser) and "right leg [N·m]" in text(browser)
    )
    assert "ankle pitch" in text(browser)
    field = browser.find_elements(
        By.XPATH, "//label[contains(., 'Motors')]/ancestor::*[.//input][1]//input"
    )[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", field)
    field.click()
    wait_for(
        lambda: browser.find_elements(By.XPATH, "//*[@role='option'][normalize-space()='arms']")
    )[0].click()
    assert wait_for(
        lambda: "left arm [N·m]" in text(browser) and "left leg [N·m]" not in text(browser)
    )


def test_a_stronger_pull_is_asked_for(browser: Any, diary: Diary) -> None:
    field = browser.find_elements(
        By.XPATH, "//label[contains(., 'Strongest pull')]/ancestor::*[.//input][1]//input"
    )[-1]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", field)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("150", Keys.ENTER)
    assert wait_for(lambda: ("limit", 150.0) in diary.asked)


def test_a_fall_is_told_with_a_button_that_ends_it(browser: Any, diary: Diary) -> None:
    assert "It has fallen" not in text(browser)
    diary.fallen = True
    try:
        assert wait_for(lambda: "It has fallen" in text(browser))
        button(browser, "Stand up again").click()
        assert wait_for(lambda: ("reset",) in diary.asked)
    finally:
        diary.fallen = False
    assert wait_for(lambda: "It has fallen" not in text(browser))


def test_nothing_comes_from_any_network(browser: Any, page: Page) -> None:
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert [name for name in loaded if not name.startswith((page.address, "blob:", "data:"))] == []


def test_without_the_token_one_only_watches_even_on_a_phone(browser: Any) -> None:
    session = Diary()
    with shown(session, rate=5.0, token="open sesame 0123") as page:
        browser.get(page.address)
        assert wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, "canvas"), 30.0)
        button(browser, "Release hand").click()
        assert wait_for(lambda: "Watching only" in text(browser))
        assert not session.asked
        empty = "//label[contains(., 'Token')]/ancestor::*[.//input][1]//input"
        field = wait_for(lambda: browser.find_elements(By.XPATH, empty))[0]
        field.send_keys("open sesame 012")
        button(browser, "Unlock").click()
        assert wait_for(lambda: "not the token" in text(browser))
        field.send_keys("open sesame 0123")
        assert wait_for(lambda: field.get_attribute("value") == "open sesame 0123")
        button(browser, "Unlock").click()
        assert wait_for(lambda: "You may touch now" in text(browser))
        button(browser, "Release hand").click()
        assert wait_for(lambda: ("switch", "hand", False) in session.asked)
        browser.set_window_size(500, 850)
        wide = browser.execute_script(
            "return document.documentElement.scrollWidth - window.innerWidth"
        )
        assert wide <= 0


@pytest.mark.parametrize(
    "size",
    [
        pytest.param((1000, 700), id="desktop", marks=pytest.mark.slow),
        pytest.param((500, 850), id="phone"),
    ],
)
def test_hands_let_go_and_grip_one_by_one(browser: Any, size: tuple[int, int]) -> None:
    session = WorldSession("swing")
    session.pause(
        True
    )  # until a hand is let go nothing happens; then what the scene would do is left to the user
    browser.set_window_size(*size)
    with shown(session, rate=10.0) as page:
        browser.get(page.address)
        for label, expected in (
            ("Release right_hand", (True, False)),
            ("go on", (True, False)),
            ("Grip right_hand", (True, True)),
            ("Release left_hand", (False, True)),
            ("Release right_hand", (False, False)),
        ):
            button(browser, label).click()
            assert wait_for(
                lambda wanted=expected: tuple(session.offer.connections.values()) == wanted, 20.0
            ), label
        button(browser, "pause").click()
        assert wait_for(lambda: session._paused)
        t = session._world.t
        button(browser, "step").click()
        assert wait_for(lambda: session._world.t > t)
        button(browser, "reset").click()
        assert wait_for(lambda: session._world.t < t and all(session.offer.connections.values()))
        assert not session._world.reason


def test_a_scene_begins_when_it_is_on_the_screen(
    browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = WorldSession("swing")
    begun = Event()  # the page's loop asks the scene to go on; the scene waits for the look below
    monkeypatch.setattr(session, "advance", lambda _: begun.set())
    browser.set_window_size(1000, 700)
    with shown(session, rate=10.0, waits=True) as page:
        assert not begun.wait(1.0)  # without a browser
        browser.get(page.address)
        assert begun.wait(30.0)
        assert blue_share(browser) > 0.005
        assert session._world.t == 0.0
        monkeypatch.undo()
        assert wait_for(lambda: session._world.t > 0.0, 30.0)
        button(browser, "Play events").click()
        assert wait_for(lambda: "next event" in text(browser), 20.0)


def test_a_record_is_scrubbed(browser: Any) -> None:
    robot = hd.load_robot("human28")
    times = np.linspace(0.0, 4.0, 41)
    played = play_clip(Clip(robot, times, np.tile(robot.posture, (41, 1))))
    played.pause(True)  # or it would come by the wanted time by itself
    browser.set_window_size(1000, 700)
    with shown(played, rate=10.0) as page:
        browser.get(page.address)
        field = wait_for(
            lambda: browser.find_elements(
                By.XPATH, "//label[contains(., 'Position')]/ancestor::*[.//input][1]//input"
            ),
            30.0,
        )[-1]
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("2.5", Keys.ENTER)
        assert wait_for(lambda: played.picture().t == pytest.approx(2.5, abs=0.11))
