"""Which addresses a configured name may lead to."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.errors import Permanent
from cortex_providers.addresses import METADATA, literal, reach, refusal
from cortex_providers.outbound import Destination


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.0.1",
        "fe80::1",
        "fe80::1%eth0",
        "febf::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "::ffff:169.254.169.254",
        "::ffff:100.100.100.200",
        "2002:a9fe:a9fe::1",
        "64:ff9b::a9fe:a9fe",
        "0.0.0.0",
        "::",
        "::ffff:0.0.0.0",
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
        "240.0.0.1",
    ],
)
def test_no_name_may_lead_to_it(address: str):
    assert refusal(ipaddress.ip_address(address)) is not None


@pytest.mark.parametrize(
    ("address", "distance"),
    [
        ("127.0.0.1", "loopback"),
        ("127.8.8.8", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("10.0.0.7", "private"),
        ("172.18.0.3", "private"),
        ("192.168.1.2", "private"),
        ("100.64.0.1", "private"),
        ("fd12:3456::1", "private"),
        ("1.1.1.1", "public"),
        ("2606:4700::1111", "public"),
        ("64:ff9b::101:101", "public"),
    ],
)
def test_a_service_may_be_there(address: str, distance: str):
    assert refusal(ipaddress.ip_address(address)) is None
    assert reach(ipaddress.ip_address(address)) == distance


@settings(deadline=None, max_examples=200)
@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_in_every_form_that_carries_it(address: ipaddress.IPv4Address):
    forms = [
        ipaddress.IPv6Address(f"::ffff:{address}"),
        ipaddress.IPv6Address(f"64:ff9b::{address}"),
        ipaddress.IPv6Address((0x2002 << 112) | (int(address) << 80) | 1),
    ]
    assert {refusal(form) for form in forms} == {refusal(address)}
    assert {reach(form) for form in forms} == {reach(address)}


def test_the_metadata_addresses_are_refused():
    assert all(refusal(address) == "a metadata address" for address in METADATA)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://tei", ("http", "tei", 80, "")),
        ("https://api.example.org/v1/", ("https", "api.example.org", 443, "/v1")),
        ("http://TEI.Example:8080/a/b", ("http", "tei.example", 8080, "/a/b")),
        ("http://[::1]:9", ("http", "::1", 9, "")),
        ("http://bücher.example", ("http", "xn--bcher-kva.example", 80, "")),
    ],
)
def test_a_destination_is_scheme_host_port_and_path(url: str, expected: tuple[str, str, int, str]):
    destination = Destination.parse(url, "X")
    assert (destination.scheme, destination.host, destination.port, destination.base) == expected
    assert Destination.parse(destination.url, "X") == destination


@pytest.mark.parametrize(
    "url",
    [
        "",
        "tei:8080",
        "ftp://tei",
        "file:///etc/passwd",
        "http://",
        "http://hunter2:hunter2@tei",
        "http://tei?hunter2",
        "http://tei#hunter2",
        "http://tei:port",
        "http://[::1",
    ],
)
def test_what_is_no_address_is_refused_by_the_name_of_its_setting(url: str):
    with pytest.raises(Permanent, match=r"^CORTEX_X_URL: expected an address") as caught:
        Destination.parse(url, "CORTEX_X_URL")
    assert "hunter2" not in str(caught.value)


def test_a_number_is_no_literal_address():
    # The resolver would read it as 169.254.169.254; it is judged as the name that it is.
    assert literal("2852039166") is None
    assert literal("0xa9fea9fe") is None
    assert literal("169.254.169.254") is not None
