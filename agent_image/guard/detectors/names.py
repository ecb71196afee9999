"""Tell by its name what a field holds, or what follows a label, however the name is written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from agent_image.guard.detectors.found import Kind

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_ANY: Final = frozenset(
    {"value", "text", "plain", "plaintext", "raw", "string", "hash", "number", "no", "num", "header"}
)
"""Words that say nothing of what a field holds."""
_SECRET: Final = (
    "apikey", "authorization", "bearer", "cookie", "cookies", "credential", "credentials", "cvc", "cvn", "cvv", "jwt",
    "otp", "passcode", "passphrase", "passwd", "password", "pin", "pwd", "sandi", "secret", "secrets", "senha", "token",
)  # fmt: skip
_PHONE: Final = ("celular", "mobile", "phone", "telefone", "telepon", "whatsapp")
_BY_WORD: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        **dict.fromkeys(_SECRET, Kind.SECRET),
        **dict.fromkeys(("card", "cartao"), Kind.CARD),
        **dict.fromkeys(("email", "mail"), Kind.EMAIL),
        **dict.fromkeys(_PHONE, Kind.PHONE),
        **dict.fromkeys(("nik", "ktp"), Kind.NIK),
        "cpf": Kind.CPF,
        "cnpj": Kind.CNPJ,
    }
)
_KEYS: Final = ("access", "api", "auth", "encryption", "private", "secret", "session", "signing")
_PAIRS: Final = frozenset(
    {*((word, "key") for word in _KEYS), ("pin", "code"), ("security", "code"), ("amz", "signature")}
)
_ENDINGS: Final = (
    "accesskey", "accesstoken", "apikey", "authorization", "authtoken", "cardnumber", "cookie", "creditcard", "idtoken",
    "passphrase", "passwd", "password", "privatekey", "refreshtoken", "secret", "secretkey", "senha", "sessiontoken",
)  # fmt: skip
_NAMES: Final = ("name", "key", "header")
"""Fields that name the one called `value` beside them, as in a list of headers."""


def words_of(name: str) -> list[str]:
    """Read the words of a name, in lower case and without accents; digits are none."""
    plain = name if name.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", name))
    return [word.lower() for word in _WORDS.findall(plain)]


def kind_of(name: str) -> Kind | None:
    """Tell what lies under a name: by its last words, in any case, joined in any way."""
    words = words_of(name)
    if "".join(words).endswith(_ENDINGS):
        return Kind.SECRET
    while words and words[-1] in _ANY:
        words.pop()
    if tuple(words[-2:]) in _PAIRS:
        return Kind.SECRET
    return _BY_WORD.get(words[-1]) if words else None


def kind_of_pair(fields: Mapping[Any, Any]) -> Kind | None:
    """Tell what lies under `value`, where a name stands in a field beside it."""
    plain = {name.lower(): value for name, value in fields.items() if isinstance(name, str)}
    names = (name for name in map(plain.get, _NAMES) if isinstance(name, str))
    return next((kind for name in names if (kind := kind_of(name))), None) if "value" in plain else None
