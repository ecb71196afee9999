"""A field's name tells what it holds, in the ways that people write names."""

from __future__ import annotations

from typing import Any

import pytest

from agent_image.guard.detectors import Kind
from agent_image.guard.detectors.names import kind_of, kind_of_pair


@pytest.mark.parametrize(
    "name",
    [
        "password", "PASSWORD", "userPassword", "db_password", "passwd", "pwd", "Passphrase", "secret", "clientSecret",
        "clientsecret", "client-secret", "token", "access_token", "accessToken", "refreshtoken", "id_token",
        "authorization", "Proxy-Authorization", "api_key", "apiKey", "APIKey", "x-api-key", "apikey", "private_key",
        "aws_secret_access_key", "cookie", "Set-Cookie", "pin", "PINCode", "pin_code", "userPIN", "cvv", "CVV2",
        "security_code", "credentials", "senha", "s\u00e9nha", "kata_sandi", "otp", "password_value", "passwordHash",
        "secret_text", "X-Amz-Signature", "\uff50\uff49\uff4e",
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_name(name: str) -> None:
    """In snake, camel and kebab case, in capitals, with an accent, in wide letters."""
    assert kind_of(name) is Kind.SECRET


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("card", Kind.CARD), ("cardNumber", Kind.SECRET), ("credit_card", Kind.SECRET), ("cart\u00e3o", Kind.CARD),
        ("email", Kind.EMAIL), ("customer_e_mail", Kind.EMAIL), ("phone_number", Kind.PHONE), ("telefone", Kind.PHONE),
        ("whatsapp", Kind.PHONE), ("cpf", Kind.CPF), ("CNPJ", Kind.CNPJ), ("no_ktp", Kind.NIK), ("nik", Kind.NIK),
    ],
)  # fmt: skip
def test_what_leads_to_a_person_is_known_by_its_name(name: str, kind: Kind) -> None:
    """Under the kind that a detector would give it; a card's number is a secret by its name alone."""
    assert kind_of(name) is kind


@pytest.mark.parametrize(
    "name",
    [
        "order_id", "amount", "subject", "detail", "query", "tokens", "max_tokens", "token_count", "shipping", "spin",
        "pinned", "monkey", "key", "public_key", "secretary", "secret_name", "card_type", "cardinal", "zip_code",
        "code",         "email_verified", "value", "text", "", "_", "123", "\u79d8\u5bc6",
    ],
)  # fmt: skip
def test_other_names_say_nothing(name: str) -> None:
    """A word within a word, or one that goes on, is another word."""
    assert kind_of(name) is None


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"name": "Authorization", "value": "x"}, Kind.SECRET),
        ({"Name": "DB_PASSWORD", "Value": "x"}, Kind.SECRET),
        ({"key": "api_key", "value": "x"}, Kind.SECRET),
        ({"header": "Cookie", "value": "x"}, Kind.SECRET),
        ({"name": "phone", "value": "x"}, Kind.PHONE),
        ({"name": "Accept", "value": "x"}, None),
        ({"name": "password"}, None),
        ({"name": 5, "value": "x", 6: "password"}, None),
        ({}, None),
    ],
)
def test_a_name_beside_a_value_speaks_for_it(fields: dict[Any, Any], kind: Kind | None) -> None:
    """As lists of headers and of variables write them."""
    assert kind_of_pair(fields) is kind
