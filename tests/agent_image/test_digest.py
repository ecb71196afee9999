"""Equal texts can be joined, and none can be guessed."""

from __future__ import annotations

import re
import threading

from hypothesis import example, given
from hypothesis import strategies as st

from agent_image.digest import KEY_BYTES, Digest, LateKey, new_key

KEY = b"k" * KEY_BYTES
FORM = re.compile(r"[A-Za-z0-9_-]{16}")


@example("\ud800", "?")
@given(st.text(st.characters(codec=None)), st.text())
def test_equal_texts_have_equal_digests_and_others_have_others(one: str, other: str) -> None:
    """Under one key, whatever the text holds."""
    digest = Digest(KEY)

    assert digest.of(one) == Digest(KEY).of(one)
    assert (digest.of(one) == digest.of(other)) == (one.encode("utf-8", "replace") == other.encode())
    assert FORM.fullmatch(digest.of(one))


def test_another_key_gives_another_digest() -> None:
    """Whoever guesses a text cannot check it."""
    assert Digest(KEY).of("yes") != Digest(new_key()).of("yes")


def test_a_key_is_fetched_when_the_first_text_comes_and_once() -> None:
    """A process that digests nothing asks for nothing."""
    fetched: list[int] = []

    def fetch() -> bytes:
        fetched.append(1)
        return KEY

    digest = Digest(LateKey(fetch))
    assert fetched == []

    assert {digest.of("a"), digest.of("a")} == {Digest(KEY).of("a")}
    assert fetched == [1]


def test_threads_wait_for_one_key() -> None:
    """All of them digest under the key that was fetched."""
    fetching, goes_on = threading.Event(), threading.Event()

    def fetch() -> bytes:
        fetching.set()
        goes_on.wait()
        return KEY

    digest = Digest(LateKey(fetch))
    digests: list[str] = []
    threads = [threading.Thread(target=lambda: digests.append(digest.of("a"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    fetching.wait()
    goes_on.set()
    for thread in threads:
        thread.join()

    assert digests == [Digest(KEY).of("a")] * 3


def test_what_is_digested_while_the_key_is_fetched_does_not_wait_for_it() -> None:
    """Fetching logs, and what is logged is digested."""
    within: list[str] = []

    def fetch() -> bytes:
        within.append(digest.of("a log line"))
        return KEY

    digest = Digest(LateKey(fetch))

    assert digest.of("a") == Digest(KEY).of("a")
    assert len(within) == 1
    assert FORM.fullmatch(within[0])
    assert within[0] != digest.of("a log line")


def test_without_its_key_a_process_digests_under_one_of_its_own() -> None:
    """Its own texts can still be joined; the fetch is not tried for each of them."""
    tried: list[int] = []

    def fetch() -> bytes:
        tried.append(1)
        raise OSError

    digest = Digest(LateKey(fetch))

    assert digest.of("a") == digest.of("a") != Digest(LateKey(fetch)).of("a")
    assert tried == [1, 1]
