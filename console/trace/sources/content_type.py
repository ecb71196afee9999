"""Take a Content-Type header apart."""

from __future__ import annotations


def media_type_and_charset(header: str) -> tuple[str, str]:
    """Give the media type, in small letters, and the charset; either may be empty."""
    media_type, *parameters = header.split(";")
    charsets = (
        value.strip().strip("\"'")
        for name, _, value in (parameter.partition("=") for parameter in parameters)
        if name.strip().lower() == "charset"
    )
    return media_type.strip().lower(), next(charsets, "")
