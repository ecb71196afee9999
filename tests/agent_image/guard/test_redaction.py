"""What must not be kept is taken out, joins where it is equal, and what cannot be looked at is not shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_image.digest import Digest
from agent_image.guard import redaction
from agent_image.guard.detectors import Kind
from agent_image.guard.redaction import TEXT_LIMIT, TOTAL_LIMIT, WITHHELD, Redactor

REDACTOR = Redactor(Digest(b"k" * 32))
MARK = re.compile(r"\[([A-Z_]+):([A-Za-z0-9_-]{16})\]")
SECRETS = {
    "maria@example.com": Kind.EMAIL,
    "+55 11 98765-4321": Kind.PHONE,
    "390.533.447-05": Kind.CPF,
    "16.727.230/0001-97": Kind.CNPJ,
    "3171011708450001": Kind.NIK,
    "4111 1111 1111 1111": Kind.CARD,
    "sk-proj-abcdefghijklmnopqrst": Kind.KEY,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln": Kind.JWT,
}


def repr_of(value: Any) -> str:
    return type(value).__name__


def redact(value: Any) -> Any:
    return REDACTOR.redact(value)


def kinds(value: Any) -> list[str]:
    return [kind for kind, _ in MARK.findall(json.dumps(value))]


@pytest.mark.parametrize(("secret", "kind"), SECRETS.items())
def test_a_mark_stands_where_a_secret_stood(secret: str, kind: Kind) -> None:
    """Its kind is said, its digest joins it, and no part of it is left."""
    shown = redact(f"It is {secret}, thanks.")

    assert re.fullmatch(rf"It is \[{kind}:[A-Za-z0-9_-]{{16}}\], thanks\.", shown)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Maria@Example.com", "mail maria@example.com"),
        ("(11) 98765-4321", "+5511987654321"),
        ("390.533.447-05", "39053344705"),
        ("4111-1111-1111-1111", 4111111111111111),
        ({"cpf": "390.533.447-05"}, "39053344705"),
        ({"phone": "11 98765-4321"}, {"note": "+5511987654321"}),
        ({"password": "hunter2"}, "password=hunter2"),
    ],
)
def test_equal_values_have_equal_marks(one: Any, other: Any) -> None:
    """However they are written, and wherever they stand; under another key none can be joined."""
    (mark,) = MARK.findall(json.dumps(redact(one)))

    assert MARK.findall(json.dumps(redact(other))) == [mark]
    assert MARK.findall(json.dumps(Redactor(Digest(b"x" * 32)).redact(one))) != [mark]


def test_different_values_have_different_marks() -> None:
    """Two that are alike are told apart."""
    assert redact({"password": "a"}) != redact({"password": "b"})
    assert len(set(re.findall(MARK, redact("a@example.com b@example.com a@example.com")))) == 2


def test_a_field_s_name_goes_before_what_it_holds() -> None:
    """A secret is taken out whatever it looks like; of what may be a person's, what looks so."""
    shown = redact(
        {
            "password": "plain words", "pin": 1234, "card": {"brand": "x"}, "token": ["a"], "cpf": "123.456.789-00",
            "phones": ["98765-4321"], "phone": ["98765-4321", "none"], "mobile": "app",
            "email": {"to": "a@b.co", "n": 1}, "secret": None, "cookie": "", "otp": False,
        }
    )  # fmt: skip

    assert kinds([shown[name] for name in ("password", "pin", "card", "token", "cpf")]) == [
        "SECRET", "SECRET", "CARD", "SECRET", "CPF",
    ]  # fmt: skip
    assert isinstance(shown["token"], str)
    assert kinds(shown["email"]) == ["EMAIL"]
    assert shown["email"]["n"] == 1
    assert kinds(shown["phone"]) == ["PHONE"]
    assert shown["phone"][1] == "none"
    rest = {name: shown[name] for name in ("phones", "mobile", "secret", "cookie", "otp")}
    assert rest == {"phones": ["98765-4321"], "mobile": "app", "secret": None, "cookie": "", "otp": False}


def test_a_field_with_more_than_a_number_is_not_that_number() -> None:
    """Its mark joins nothing else's."""
    assert redact({"cpf": "390.533.447-05 or 231.002.999-39"}) != redact({"cpf": "390.533.447-05"})


def test_names_and_pairs_are_looked_at_too() -> None:
    """An address may be a key; a header's value is what its name says. No entry is lost."""
    shown = redact({"a@example.com": 1, "A@example.com": 2, "headers": [{"name": "Authorization", "value": "abc"}]})

    assert [MARK.sub("m", name) for name in shown] == ["m", "m'", "headers"]
    assert kinds(shown["headers"]) == ["SECRET"]


@pytest.mark.parametrize(
    "value",
    [
        "order 5501", {"order_id": "5501", "amount": 150.5}, 20260131001, 1700000000000, 111122223333, -5, 0.1, True,
        None, Decimal("150.50"), "2026-01-31T09:30:00.123Z", "550e8400-e29b-41d4-a716-446655440000", [1, [2, {}]], "",
        [], {}, {"tokens": {"input": 1200, "output": 50}}, '{"order_id": "5501", "amount": 150.50}', "{not json",
        "[1, 2",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays_as_it_is(value: Any) -> None:
    """Orders, dates, prices and ids, to the last blank."""
    shown = redact(value)

    assert shown == value
    assert type(shown) is type(value)


@pytest.mark.parametrize("number", [39053344705, 5511987654321, 4111111111111111, -4111111111111111, 4111111111111111.0,
                                    Decimal(4111111111111111)])  # fmt: skip
def test_numbers_are_looked_at_as_texts_are(number: Any) -> None:
    """JSON may hold them without quotes."""
    assert len(kinds(redact({"n": number}))) == 1


def test_a_text_that_is_json_is_read_as_json() -> None:
    """Tools answer so: field names count in it, in JSON within it, and what is repeated hides nothing."""
    inner = json.dumps({"password": {"is": "one two"}})
    shown = redact(json.dumps({"pin": 1234, "note": "a@example.com", "inner": inner, "amount": 150.5}))
    document = json.loads(shown)

    assert kinds({name: document[name] for name in ("pin", "note")}) == ["SECRET", "EMAIL"]
    assert MARK.sub("m", json.loads(document["inner"])["password"]) == "m"
    assert "b c" not in redact('{"otp": {"a": "b c"}, "password": "\\q"}')
    assert document["amount"] == 150.5
    assert "a@example.com" not in redact('{"a": "a@example.com", "a": "b"}')
    assert "one" not in redact('{"password": "one two", "password": null}')


@pytest.mark.parametrize(
    "value", [b"bytes", {1, 2}, object(), float("nan"), float("inf"), Decimal("NaN"), 10**5_000], ids=repr_of
)
def test_what_cannot_be_looked_at_is_not_shown(value: Any) -> None:
    """A value of no known kind, wherever it stands."""
    assert redact(value) == WITHHELD
    assert redact({"a": [value]}) == {"a": [WITHHELD]}


def test_a_value_that_never_ends_is_not_shown() -> None:
    """Nor one that raises while it is looked at."""
    endless: list[Any] = []
    endless.append(endless)

    class Hostile(dict[str, Any]):
        def items(self) -> Any:
            raise KeyError

    shown = redact({"a": "shown", "b": endless})
    assert shown["a"] == "shown"
    assert WITHHELD in json.dumps(shown["b"])
    assert redact(Hostile()) == WITHHELD
    assert redact("[" * 50_000) == "[" * 50_000


@pytest.mark.parametrize("value", ["some text", {"a": "some text"}, 123456789012])
def test_a_detector_that_fails_shows_nothing_of_the_text(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it raises."""

    def fail(*_: object) -> Iterator[Any]:
        raise ZeroDivisionError

    monkeypatch.setattr(redaction, "find", fail)

    assert WITHHELD in json.dumps(redact(value))
    assert "some text" not in json.dumps(redact(value))


def test_a_text_of_numbers_alone_is_not_shown() -> None:
    """It is more than is worth reading."""
    assert redact("012 345 678 " * 8_000) == WITHHELD


@pytest.mark.parametrize("secret", ["maria@example.com", "4111 1111 1111 1111", "+55 11 98765-4321"])
def test_a_long_text_shows_its_beginning(secret: str) -> None:
    """What the cut goes through is not shown, wherever it goes through."""
    for shift in {0, 1, len(secret) // 2, len(secret), len(secret) + 1}:
        text = f"{'word ' * (TEXT_LIMIT // 5 - 10)}{'x ' * 60}"[: TEXT_LIMIT - shift - 1] + f" {secret} {'tail ' * 200}"
        shown = redact(text)

        assert shown.startswith("word word")
        assert shown.endswith(WITHHELD)
        assert len(shown) <= TEXT_LIMIT
        assert secret[:4] not in shown
        assert redact(shown) == shown


def test_where_little_is_left_to_show_nothing_is() -> None:
    """What a cut could have gone through may be all of it."""
    assert redact("word " * 600 + "-----BEGIN PRIVATE KEY-----" + "x" * TEXT_LIMIT) == WITHHELD


def test_a_text_that_grows_is_cut_as_a_long_one() -> None:
    """Marks may be longer than what they stand for."""
    text = "39053344705 " * (TEXT_LIMIT // 12)
    shown = redact(text)

    assert len(shown) <= TEXT_LIMIT
    assert shown.endswith(WITHHELD)
    assert "39053344705" not in shown
    assert redact(shown) == shown


def test_a_value_has_a_limit_too() -> None:
    """Texts behind it are not shown."""
    texts = ["word " * 19_000] * (TOTAL_LIMIT // 95_000 + 2)
    shown = redact(texts)

    assert shown[0] == texts[0]
    assert shown[-1] == WITHHELD


def test_marks_do_not_count_towards_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though they are longer than what they stand for: what was redacted is left."""
    monkeypatch.setattr(redaction, "TOTAL_LIMIT", 60)
    once = redact(["39053344705"] * 5)

    assert kinds(once) == ["CPF"] * 5
    assert redact(once) == once


def test_no_more_than_the_limit_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time goes with what is looked at."""
    seen: list[int] = []

    def look(text: str) -> list[Any]:
        seen.append(len(text))
        return []

    monkeypatch.setattr(redaction, "find", look)

    redact("word " * TEXT_LIMIT)

    assert max(seen) == TEXT_LIMIT


@pytest.mark.parametrize(
    "text",
    [
        "[CARD:4111111111111111]",
        "[EMAIL:maria@example.co]",
        "[NIK:3171011708450001]",
        "[EMAIL:4111111111111111",
        "[OTHER:4111111111111111]",
    ],
)
def test_a_mark_is_no_place_to_hide(text: str) -> None:
    """What stands in one and is no digest is looked at."""
    shown = redact(text)

    assert shown != text
    assert not any(secret in shown for secret in ("4111", "maria", "3171"))


def test_what_was_redacted_is_left() -> None:
    """In a text, behind a label, under a name, and beside others."""
    once = redact(
        {"password": "x", "note": "password=x a@example.com", "list": ["11 98765-4321"], "cpf": "12345678901"}
    )

    assert redact(once) == once
    assert redact(f"again: {once['note']}") == f"again: {once['note']}"


WORDS = st.sampled_from(
    [*SECRETS, "a@b.co", "@", ".", " ", "-", "11", "39053344705", "4111111111111111", "password=", "token: ", '"', "'",
     "\\", "{", "}", '{"password": "x"}', "[EMAIL:AAAAAAAAAAAAAAAA]", "[REDACTED]", "[CARD:4111111111111111]",
     "\n", "Bearer ", "cookie: ", "://", ":", "0812", "55", "é", "\ud800"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=12).map("".join) | st.text(max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["password", "email", "name", "value", "note", "cpf"]) | TEXTS, inner, max_size=4
        )
        | inner.map(json.dumps)
    ),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_to_redact_twice_is_to_redact_once(value: Any) -> None:
    """Whatever the value is made of, it stays JSON, and holds no more to take out."""
    once = redact(value)

    json.dumps(once, allow_nan=False)
    assert redact(once) == once


@settings(deadline=None)
@given(
    st.sampled_from(sorted(SECRETS)),
    st.lists(st.sampled_from(["word", "-", "5501", "2026-01-31", "a:", "é", ",", "(x)"])),
)
def test_no_part_of_a_secret_is_left(secret: str, words: list[str]) -> None:
    """Among words, in a list, under any name, in JSON: the same."""
    text = f"{' '.join(words)} {secret} {' '.join(words)}"

    for value in (text, [text], {"note": text}, json.dumps({"note": [text]}), {text: 1}):
        assert secret not in json.dumps(redact(value), ensure_ascii=False)
