# SPDX-License-Identifier: Apache-2.0
"""Who may touch."""

import pytest

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.viewer.access import MOST_NETWORKS, Access, check_host, is_local
from humanoid_dynamics.viewer.origins import parse_origin


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.53"])
def test_on_this_machine_everyone_may_touch(host: str) -> None:
    assert is_local(host)
    assert Access(host).allows(7)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "robot.example"])
def test_beyond_this_machine_a_token_is_needed(host: str) -> None:
    access = Access(host)
    assert len(access.token) >= 16
    assert not access.allows(7)
    assert not access.show(7, access.token[:-1])
    assert not access.allows(7)
    assert access.show(7, access.token)
    assert access.allows(7)
    assert not access.allows(8)
    access.forget(7)
    assert not access.allows(7)


def test_tokens_differ() -> None:
    assert Access("0.0.0.0").token != Access("0.0.0.0").token


TOKEN = "open sesame, open sesame"


def test_a_token_can_be_asked_for_on_this_machine() -> None:
    assert not Access("127.0.0.1", TOKEN).allows(1)


def test_a_page_behind_a_proxy_needs_a_token() -> None:
    assert not Access("127.0.0.1", origins=[parse_origin("https://robot.example")]).open
    assert Access(
        "127.0.0.1",
        origins=[parse_origin("http://localhost:9000"), parse_origin("http://[::1]:9000")],
    ).open


def test_what_is_no_ascii_is_no_token() -> None:
    assert not Access("127.0.0.1", TOKEN).show(1, "s\u00e9cret\u2028\udc80")


@pytest.mark.parametrize("token", ["x", "a" * 15, " " * 30, "a" * 15 + "  "])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_short_token_is_refused_without_being_repeated(token: str, host: str) -> None:
    with pytest.raises(HumanoidDynamicsError, match="expected 16 or more") as refusal:
        Access(host, token)
    assert len(token.strip()) == 0 or token.strip() not in str(refusal.value).split()


class TestWrongTokens:
    """After five wrong tokens within a minute a network waits for a minute, and no other one does."""

    now = 100.0

    @pytest.fixture
    def access(self) -> Access:
        return Access("127.0.0.1", TOKEN, clock=lambda: self.now)

    def guess(self, access: Access, address: str, times: int = 5) -> None:
        for client in range(times):
            assert not access.show(client, f"wrong {client}", address)

    def test_the_right_token_too_waits(self, access: Access) -> None:
        self.guess(access, "192.0.2.7")
        assert access.lockout("192.0.2.7") == 60.0
        assert not access.show(9, TOKEN, "192.0.2.7")
        assert not access.allows(9)
        assert access.show(8, TOKEN, "192.0.2.8")
        self.now += 59.0
        assert not access.show(9, TOKEN, "192.0.2.7")
        self.now += 2.0
        assert access.show(9, TOKEN, "192.0.2.7")

    def test_it_is_no_fresh_start_to_come_again_as_another_visitor(self, access: Access) -> None:
        for client in range(4):
            access.show(client, "wrong", "192.0.2.7")
            access.forget(client)
        access.show(4, "wrong", "::ffff:192.0.2.7")
        assert access.lockout("192.0.2.7") > 0.0

    def test_addresses_of_one_network_count_together(self, access: Access) -> None:
        for k in range(5):
            access.show(k, "wrong", f"2001:db8::{k}")
        assert access.lockout("2001:db8::77") > 0.0
        assert access.lockout("2001:db8:0:1::77") == 0.0

    def test_slow_mistakes_are_forgiven(self, access: Access) -> None:
        for _ in range(20):
            access.show(1, "wrong", "192.0.2.7")
            self.now += 16.0
        assert access.show(1, TOKEN, "192.0.2.7")

    def test_one_who_may_touch_still_may(self, access: Access) -> None:
        assert access.show(1, TOKEN, "192.0.2.7")
        self.guess(access, "192.0.2.7")
        assert access.allows(1)

    def test_memory_is_bounded(self, access: Access) -> None:
        for k in range(MOST_NETWORKS + 100):
            access.show(1, "wrong", f"10.{k >> 16}.{k >> 8 & 255}.{k & 255}")
        assert len(access._wrong) <= MOST_NETWORKS


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])
def test_this_machine_listens_on_addresses_of_its_own(host: str) -> None:
    check_host(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "a" * 70])
def test_an_address_of_nobody_is_refused(host: str) -> None:
    with pytest.raises(HumanoidDynamicsError, match="expected a name or address of this machine"):
        check_host(host)
