"""Who may touch."""

import pytest

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.viewer.access import Access, check_host, is_local


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.53"])
def test_on_this_machine_everyone_may_touch(host: str) -> None:
    assert is_local(host)
    assert Access(host).allows(7)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "robot.example"])
def test_beyond_this_machine_a_token_is_needed(host: str) -> None:
    access = Access(host)
    assert len(access.token) >= 12
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


def test_a_token_can_be_asked_for_on_this_machine() -> None:
    assert not Access("127.0.0.1", "secret").allows(1)


def test_what_is_no_ascii_is_no_token() -> None:
    assert not Access("127.0.0.1", "secret").show(1, "sécret\u2028")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])
def test_this_machine_listens_on_addresses_of_its_own(host: str) -> None:
    check_host(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "a" * 70])
def test_an_address_of_nobody_is_refused(host: str) -> None:
    with pytest.raises(HumanoidDynamicsError, match="expected a name or address of this machine"):
        check_host(host)
