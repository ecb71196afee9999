"""Say what each managed data identifier may match, at the widest.

AWS's own expressions are not public. These shapes match more than AWS documents: they need the keywords that its pages
name within 30 characters of the value (CWL-managed-data-identifiers), anywhere in a word, and take any separator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

KEYWORD_REACH = 30


@dataclass(frozen=True, slots=True)
class Shape:
    """State how the values of one identifier look, which words must stand close by, and one made-up example."""

    value: str
    example: str
    keywords: tuple[str, ...] = ()
    alone: str = r"(?!)"
    """What a value matches that needs no keyword."""
    luhn: bool = False

    def matches(self, text: str) -> Iterator[str]:
        """Find every value, overlapping ones too, that a mask of this identifier could cover."""
        for found in re.finditer(f"(?=({self.value}))", text):
            value = found[1]
            near = text[max(0, found.start() - KEYWORD_REACH) : found.start() + len(value) + KEYWORD_REACH]
            if self._is_named(near, value) and (not self.luhn or _has_luhn_number(value)):
                yield value

    def _is_named(self, near: str, value: str) -> bool:
        if not self.keywords or re.match(self.alone, value):
            return True
        words = re.sub(r"[\s_-]+", " ", near.casefold())
        return any(keyword in words for keyword in self.keywords)


def _has_luhn_number(value: str) -> bool:
    digits = [int(char) for char in value if char.isdigit()]
    return any(_luhn(digits[:length]) for length in range(13, min(len(digits), 19) + 1))


def _luhn(digits: list[int]) -> bool:
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_GAP = r"[ ./-]?"

SHAPES: dict[str, Shape] = {
    "EmailAddress": Shape(r'[^\s@"]+@[^\s@"]+', "ana@example.com"),
    "CpfCode-BR": Shape(
        rf"(?:\d{_GAP}){{10}}\d",
        "CPF: 52998224725",
        ("cpf", "cadastro de pessoa"),
    ),
    "Cnpj-BR": Shape(
        rf"(?:\d{_GAP}){{13}}\d",
        "cnpj 11.222.333/0001-81",
        ("cnpj", "cadastro nacional da pessoa jurídica", "cadastro nacional da pessoa juridica"),
    ),
    "PhoneNumber-BR": Shape(
        r"\+?\d[\d ().-]{6,}\d",
        "meu celular é 11 91234-5678",
        ("cel", "fone", "móvel", "movel", "número residencial", "numero residencial"),
        alone=r"\+55",
    ),
    "CreditCardNumber": Shape(
        r"\d(?:[ -]?\d){12,18}",
        "card 4111 1111 1111 1111",
        (
            *("card", "credit", "debit", "visa", "amex", "american express", "mastercard"),
            *("discover", "diners", "jcb", "maestro", "cartão", "cartao"),
        ),
        luhn=True,
    ),
    "AwsSecretKey": Shape(
        r"[A-Za-z0-9/+=]{40}",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ("secret key", "secretkey", "secret access key", "secretaccesskey", "aws secret"),
    ),
}
