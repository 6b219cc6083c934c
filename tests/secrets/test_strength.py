"""Weak values are refused, and never repeated."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.secrets import Secret
from rackwright.secrets.strength import weakness

WEAK = {
    "": "has 0 characters",
    "short1A": "has 7 characters",
    "prom-operator-prom-operator": "well-known",
    "changeme-CHANGEME-2026!!": "well-known",
    "Password1234567890": "well-known",
    "1234567890123456": "well-known",
    "abcdefghijklmnopqrstuvwxyz": "well-known",
    "grafana-admin-password": "well-known",
    "lots-of-words-of-its-own-name": None,
    "aaaaaaaaaaaaaaaaaaaaaaaa": "repeats 1 characters",
    "zxzxzxzxzxzxzxzxzxzxzxzx": "repeats 2 characters",
    "g7Kp2 wQz9Lm4Tx8Rv1": "space",
    "g7Kp2wQz9Lm4Tx8Rv1\n": "line break",
    "g7Kp2wQz9Lm4Tx8Rvü1": "beyond ASCII",
    "g7Kp2wQz9{{Lm4}}Tx8Rv1": "template",
    "g7Kp2wQz9Lm4Tx8Rv1": None,
}


@pytest.mark.parametrize(("value", "reason"), WEAK.items())
def test_a_weak_value_is_told(value, reason):
    found = weakness(value, shortest=16)
    assert (reason in found) if reason else (found is None)


def test_the_name_itself_is_no_secret():
    assert weakness("tenant-chat-tenant-chat", shortest=16, name="tenant_chat_key") == "is a well-known value"


def test_a_long_value_of_overlapping_words_is_judged_at_once():
    started = time.monotonic()
    weakness("apikey" * 5_000 + "9f!", shortest=16, name="qdrant_api_key")
    assert time.monotonic() - started < 1


def test_default_accounts_of_object_stores_are_refused():
    assert weakness("minioadmin", shortest=3)


@given(st.text(min_size=4))
def test_the_reason_never_repeats_the_value(value):
    reason = weakness(value, shortest=16)
    assert reason is None or value not in reason or value in weakness("", shortest=16) + "space template character"


def test_what_is_generated_is_strong_and_never_the_same():
    secret = Secret("grafana_admin_password", "Opens Grafana.")
    values = {secret.generate() for _ in range(200)}
    assert len(values) == 200
    assert all(weakness(value, shortest=secret.shortest, name=secret.name) is None for value in values)
