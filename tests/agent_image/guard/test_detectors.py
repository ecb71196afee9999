"""What leads to a person or opens a door is found, whatever it is written like; what only looks so is left."""

from __future__ import annotations

import base64
import json
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.br import cnpj, cpf

from agent_image.guard.detectors import Kind, find
from agent_image.guard.detectors.credentials import web_tokens
from agent_image.guard.detectors.found import Found
from agent_image.guard.detectors.phones import TooManyError

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----"


def shown(text: str) -> str:
    """Write the kinds in the place of what was found."""
    for one in reversed(find(text)):
        text = f"{text[: one.start]}<{one.kind}>{text[one.end :]}"
    return text


def values(text: str) -> set[tuple[str, str]]:
    return {(one.kind.value, one.value) for one in find(text)}


@pytest.mark.parametrize(
    "text",
    [
        "maria@example.com", "MARIA.SILVA+shop@Mail.Example.CO.UK", "o'brien@example.ie", "a_b-c%d@example.travel",
        "joão@exemplo.com.br", "x@bücher.example", "a@xn--bcher-kva.xn--p1ai", "\uff41\uff20example.com",
        "maria%40example.com",
    ],
)  # fmt: skip
def test_an_address_is_found_in_any_case_and_domain(text: str) -> None:
    """With what stands around it left as it is."""
    for before, after in (("", ""), ("<", ">"), ("'", "'"), ("mail ", "."), ("to:", ",")):
        assert shown(f"{before}{text}{after}") == f"{before}<EMAIL>{after}"


@pytest.mark.parametrize(
    "text",
    [
        "root@10.0.0.1",
        "root@example.10",
        "a@b",
        "npm i pkg@1.2.3",
        "@decorator.method",
        "5 @ 3.50",
        "a@.com",
        "a @x.com",
    ],
)
def test_what_has_no_domain_of_letters_is_no_address(text: str) -> None:
    """Hosts by number, versions and prices are none."""
    assert find(text) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+55 11 98765-4321", "+5511987654321"),
        ("+5511987654321", "+5511987654321"),
        ("(11) 98765-4321", "+5511987654321"),
        ("11 98765-4321", "+5511987654321"),
        ("11 9 8765 4321", "+5511987654321"),
        ("011 98765-4321", "+5511987654321"),
        ("11987654321", "+5511987654321"),
        ("5511987654321", "+5511987654321"),
        ("\uff11\uff11 \uff19\uff18765\u20104321", "+5511987654321"),
        ("(11) 3333-4444", "+551133334444"),
        ("+62 812-3456-7890", "+6281234567890"),
        ("+62 (812) 3456 7890", "+6281234567890"),
        ("62 812 3456 7890", "+6281234567890"),
        ("0812-3456-7890", "+6281234567890"),
        ("081234567890", "+6281234567890"),
        ("(021) 12345678", "+622112345678"),
        ("+1 415 555 2671", "+14155552671"),
        ("(415) 555-2671", "+14155552671"),
        ("415-555-2671", "+14155552671"),
        ("+44 20 7946 0958", "+442079460958"),
        ("+351 912 345 678", "+351912345678"),
    ],
)
def test_a_telephone_number_is_found_as_it_is_written(text: str, number: str) -> None:
    """With a country's code, or as Brazil, Indonesia and the United States write theirs; all forms are one number."""
    assert values(text) == {("PHONE", number)}
    assert shown(f"tel:{text}, ok") == "tel:<PHONE>, ok"
    assert shown(f"a\\n{text}\\n") == "a\\n<PHONE>\\n"


def test_numbers_side_by_side_are_each_found() -> None:
    """And what follows one is no part of it."""
    assert shown("11 98765-4321 11 98765-4322") == "<PHONE> <PHONE>"
    assert shown("0812 3456 7890 0813 3456 7890") == "<PHONE> <PHONE>"
    assert shown("+62 812 3456 7890 5501") == "<PHONE> 5501"
    assert shown("0999 0812 3456 7890") == "0999 <PHONE>"
    assert shown("maria@example.id 11987654321") == "<EMAIL> <PHONE>"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("390.533.447-05", "CPF", "39053344705"),
        ("39053344705", "CPF", "39053344705"),
        ("390 533 447 05", "CPF", "39053344705"),
        ("390533447-05", "CPF", "39053344705"),
        ("16.727.230/0001-97", "CNPJ", "16727230000197"),
        ("16727230000197", "CNPJ", "16727230000197"),
        ("12.ABC.345/01DE-35", "CNPJ", "12ABC34501DE35"),
        ("12.abc.345/01de-35", "CNPJ", "12ABC34501DE35"),
        ("3171011708450001", "NIK", "3171011708450001"),
        ("317101 170845 0001", "NIK", "3171011708450001"),
        ("4111111111111111", "CARD", "4111111111111111"),
        ("4111 1111 1111 1111", "CARD", "4111111111111111"),
        ("4111-1111-1111-1111", "CARD", "4111111111111111"),
        ("4222222222222", "CARD", "4222222222222"),
        ("5555555555554444", "CARD", "5555555555554444"),
        ("2223003122003222", "CARD", "2223003122003222"),
        ("3782 822463 10005", "CARD", "378282246310005"),
        ("30569309025904", "CARD", "30569309025904"),
        ("3530111333300000", "CARD", "3530111333300000"),
        ("6011111111111117", "CARD", "6011111111111117"),
        ("6362970000457013", "CARD", "6362970000457013"),
    ],
)
def test_a_number_with_check_digits_is_found(text: str, kind: str, value: str) -> None:
    """Grouped as it is written, with its last digit changed it is none."""
    assert values(f"n.º {text}!") == {(kind, value)}
    assert shown(f"a\\n{text}\\n") == f"a\\n<{kind}>\\n"
    if kind != "NIK":
        wrong = text[:-1] + str((int(text[-1]) + 1) % 10)
        assert kind not in {found for found, _ in values(wrong)}


def test_the_longest_number_counts() -> None:
    """A card of nineteen digits begins as one of sixteen does."""
    assert values("4111 1111 1111 1111 110") == {("CARD", "4111111111111111110")}
    assert shown("4111 1111 1111 1111 111") == "<CARD> 111"


@settings(deadline=None)
@given(st.integers(1, 999_999_999))
def test_every_cpf_is_found_in_both_forms(number: int) -> None:
    """Whichever it is; with its last digit changed it is none, and one digit eleven times is nobody's."""
    digits = f"{number:09}"
    whole = next(f"{digits}{check:02}" for check in range(100) if cpf.is_valid(f"{digits}{check:02}"))
    wrong = whole[:-1] + str((int(whole[-1]) + 1) % 10)

    for written in (whole, cpf.format(whole)):
        assert (("CPF", whole) in values(written)) == (len(set(whole)) > 1)
    assert Kind.CPF not in {one.kind for one in find(cpf.format(wrong))}


@settings(deadline=None)
@given(st.integers(0, 99_999_999), st.integers(1, 999))
def test_every_cnpj_is_found(root: int, branch: int) -> None:
    """As it is written."""
    digits = f"{root:08}{branch:04}"
    whole = digits + cnpj.calc_check_digits(digits)

    assert values(cnpj.format(whole)) == (set() if len(set(whole)) == 1 else {("CNPJ", whole)})


@settings(deadline=None)
@given(st.sampled_from(["4", "51", "37", "6011"]), st.integers(0, 10**15), st.sampled_from(["", " ", "-"]))
def test_every_card_is_found(prefix: str, number: int, separator: str) -> None:
    """In groups of four, or in none."""
    digits = f"{prefix}{number:015}"[: 14 if prefix == "37" else 15]
    whole = digits + luhn.calc_check_digit(digits)
    groups = [whole[:4], whole[4:10], whole[10:]] if prefix == "37" else [whole[n : n + 4] for n in range(0, 16, 4)]

    assert {one.kind for one in find(separator.join(groups))} == {Kind.CARD}


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("sk-ant-api03-abcdefghijklmnop", "<KEY>"),
        ("sk-proj-abcdefghijklmnop_qrst", "<KEY>"),
        ("sk-abcdefghijklmnop1234", "<KEY>"),
        ("sk_live_abcdefghij", "<KEY>"),
        ("AKIAIOSFODNN7EXAMPLE", "<KEY>"),
        ("ASIAIOSFODNN7EXAMPLE", "<KEY>"),
        ("ghp_abcdefghijklmnopqrst0123", "<KEY>"),
        ("github_pat_abcdefghijklmnopqrst0123", "<KEY>"),
        ("glpat-abcdefghijklmnop_0123", "<KEY>"),
        ("xoxb-1234567890-abcdef", "<KEY>"),
        ("https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXX", "https://<KEY>"),
        ("AIzaabcdefghijklmnopqrstuvwxyz012345678", "<KEY>"),
        ("Bearer abcdef123456", "Bearer <BEARER>"),
        ("bearer  abcdefghijklmnopqrstuvwxyz", "bearer  <BEARER>"),
        ("Basic dXNlcjpwYXNz", "Basic <BEARER>"),
        (JWT, "<JWT>"),
        (f"www.example.com.{JWT}", "www.example.com.<JWT>"),
        (f"a-rather-long-name.{JWT}.more.parts", "a-rather-long-name.<JWT>"),
        (PEM, "<PRIVATE_KEY>"),
        (f"{PEM} and {PEM}", "<PRIVATE_KEY> and <PRIVATE_KEY>"),
        (PEM.replace("\n", "\\n"), "<PRIVATE_KEY>"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r", "<PRIVATE_KEY>"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----.", "<PRIVATE_KEY>."),
        ("password=hunter2", "password=<SECRET>"),
        ("db_password: hunter2, next", "db_password: <SECRET>, next"),
        ('"password": "correct horse", "n": 1', '"password": "<SECRET>", "n": 1'),
        (r'"password": "quoted \" inside", "n": 1', '"password": "<SECRET>", "n": 1'),
        (r"{\"password\": \"hunter2\", \"n\": 1}", r"{\"password\": \"<SECRET>\", \"n\": 1}"),
        (r'"password": "\\back\\slash", "n": 1', r'"password": "<SECRET>", "n": 1'),
        (r'"password": "\q", "n": 1', r'"password": "<SECRET>", "n": 1'),
        (r"{\\\"password\\\": \\\"a\\\\b\\\"}", r"{\\\"password\\\": \\\"<SECRET>\\\"}"),
        (r"password=\"never closed", r"password=\"<SECRET>"),
        (r"password=DOMAIN\word\n", r"password=<SECRET>\n"),
        ("client_secret='x y' z", "client_secret='<SECRET>' z"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=<SECRET>"),
        ("api-key: abc", "api-key: <SECRET>"),
        ("senha = segredo", "senha = <SECRET>"),
        ("PIN: 1234", "PIN: <SECRET>"),
        ("CVV=123", "CVV=<SECRET>"),
        ("?token=abc&page=2", "?token=<SECRET>&page=2"),
        ("Authorization: Basic abc def\nHost: x", "Authorization: <SECRET>\nHost: x"),
        ("Set-Cookie: a=b; Path=/", "Set-Cookie: <SECRET>"),
        ("postgresql://me:p%40ss@localhost/db", "postgresql://<SECRET>@localhost/db"),
        ("https://me:pass@example.com/", "https://<SECRET>/"),
    ],
)
def test_a_credential_is_found_by_its_form_or_its_label(text: str, rest: str) -> None:
    """And nothing beside it."""
    assert shown(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "order 5501", "pedido 20260131001", "Order #BR-20260131-0042", "pesanan 0123456789", "4155552671",
        "pedido nº 11987654321", "Order: #11987654321", "NF 0000123456", "JD014600006281230704", "98765-4321",
        "1700000000000", "111122223333",
        "2026-01-31T09:30:00.123Z", "2026-01-31 09:30:00", "31/01/2026 02.02.2026", "20260131093000",
        "R$ 1.234.567,89", "150.00", "1,234,567,890.12", "550e8400-e29b-41d4-a716-446655440000",
        "12345678-1234-4234-8234-123456789012", "41111111-1111-4111-8111-111111111111", "192.168.100.41:8080",
        "550e8400-e29b-41d4-a716-081234567890",
        "arn:aws:iam::111122223333:role/x", "pIrs5jNu1YUfwBrzU5Uqqk0g", "s3://kb/a.md#4111_111111111111111x.120",
        "sk-learn-something-long-words", "bearer certificate", "basic information", "Basic abcdefghijkl", "spin: 5",
        "tokens: 12", "the secret of tea", "a.b.c", "www.example.com.br", "11111111111", "AKIA", "password: null",
        "email: send it", "cpf: none", "9971011708450001", "20260131000034", "order 5507 2026-01-31 0930",
        "a4111111111111111", "4111111111111111b", "4111,1111,1111,1111 0123456789",
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----", "https://example.com:8080/a@b", "5 x 4 = 20",
    ],
)  # fmt: skip
def test_what_is_no_secret_is_left(text: str) -> None:
    """Orders, dates, prices, ids, fingerprints and plain words stay readable."""
    assert shown(text) == text


def test_what_overlaps_is_found_as_a_whole() -> None:
    """Nothing of either is left over, and the more secret one is named."""
    assert shown("4111111111111111@example.com") == "<CARD>"
    assert shown("password=maria@example.com") == "password=<SECRET>"
    (joined,) = find("https://me:pass@example.com/")
    assert joined == Found(8, 27, Kind.SECRET, "me:pass@example.com")


@pytest.mark.parametrize("header", ["[]", "1", '{"a":1}', "{", "\x00"])
def test_a_token_s_first_part_is_the_header_of_one(header: str) -> None:
    """Three parts between full stops are not enough."""
    part = base64.urlsafe_b64encode(header.encode().ljust(9)).decode().rstrip("=")

    assert list(web_tokens(f"{part}.abcd.efgh")) == []


def test_a_token_with_a_header_of_any_length_is_found() -> None:
    """A certificate may be in it."""
    header = base64.urlsafe_b64encode(json.dumps({"alg": "RS256", "x5c": "c" * 20_000}).encode()).decode().rstrip("=")

    assert shown(f"{header}.abcd.efgh") == "<JWT>"


PIECES = st.sampled_from(
    ["a", "é", "\uff11", "@", "%40", ".com", ".", "-", " ", "/", "+", "55", "11", "0812", "4111", "39053344705", "(",
     ")", "\\n", "eyJ", JWT, "sk-", "password", "=", ":", '"', "'", "\\", "Bearer ", "cookie", "://",
     "-----BEGIN PRIVATE KEY-----", "2026-01-31", "\n", "AKIA", "\ud800", "[EMAIL:"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text())
@example("+" * 50)
def test_spans_are_in_order_and_apart(text: str) -> None:
    """Whatever the text is made of."""
    found = find(text)

    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    "piece",
    [
        "a", "a@", "@", "%40", "a-", "1 ", "1", "+1", "(0", "1.1.", "4111 1111 1111 1112 ", "eyJ", "aaaaaaaaaa.",
        "W1tb", 'password="', "password: '\\", "sk-", "bearer    ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "://a:",
        "é\uff11", "2026-01-01 ", "12.ABC.345/01DE-3", "550e8400-", "cookie:", "secret ", "0 " + " " * 100,
    ],
)  # fmt: skip
def test_hostile_texts_are_read_to_their_end(piece: str) -> None:
    """A hundred thousand characters: where a pattern tries every way, this ends in no lifetime."""
    text = (piece * 100_000)[:100_000]

    try:
        assert all(one.end <= len(text) for one in find(text))
    except TooManyError:
        assert piece[0].isdigit()


def test_a_text_of_numbers_alone_is_not_read_for_ever() -> None:
    """Whoever asks shows nothing of it, then."""
    with pytest.raises(TooManyError):
        find("012 345 678 " * 8_000)
