"""Read a word of a parsed command as the shell would: quotes gone, what it would expand marked as unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from agent_image.hooks.shell.options import UNKNOWN

_ESCAPED: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_IN_QUOTES: Final = re.compile(r'\\([$`"\\\n])')
_IN_DOCUMENT: Final = re.compile(r"\\([$`\\\n])")
_PLAIN: Final = "word"
_SUBSTITUTION: Final = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\()")
_GLOB: Final = re.compile(r"(\\.)|[*?\[]", re.DOTALL)
_BRACES: Final = re.compile(r"\{[^{}]*(,|\.\.)|[{,][^{}]*\}.*,", re.DOTALL)


def word_of(node: Node) -> str:
    """Read a word; `UNKNOWN` stands in it for each expansion, and for a pattern of file names or braces."""
    parts = node.children if node.type == "concatenation" else [node]
    # Quoted braces are letters; those that stand free may make several words of one.
    if _BRACES.search("".join(_free(part) for part in parts)):
        return UNKNOWN
    return "".join(_read(part) for part in parts)


def document_of(body: Node, start: Node) -> str:
    """Read a here-document, by the word that ends it: a quoted one leaves the text as it is."""
    if is_quoted(start):
        return _text(body)
    return _IN_DOCUMENT.sub(_unescaped, _with_gaps(body, body.start_byte, body.end_byte))


def is_quoted(start: Node) -> bool:
    """Tell whether the shell leaves a here-document as it is, by the word that begins it."""
    return re.search(r"""['"\\]""", _text(start)) is not None


def is_overlooked(node: Node) -> bool:
    """Tell whether a text holds a command that the grammar did not see in it."""
    return _SUBSTITUTION.search(_with_gaps(node, node.start_byte, node.end_byte)) is not None


def _read(part: Node) -> str:
    text = _text(part)
    match part.type:
        case "word" | "number" | "variable_name" | "extglob_pattern" | "regex" | "test_operator":
            return _escapes(_GLOB.sub(lambda found: found[1] or UNKNOWN, text))
        case "raw_string":
            return text[1:-1]
        case "ansi_c_string":
            return UNKNOWN if "\\" in text else text[2:-1]
        case "string":
            first = part.children[0]
            return _IN_QUOTES.sub(_unescaped, _with_gaps(part, first.end_byte, part.end_byte - 1))
        case "$":
            return "$"
        case _:
            return UNKNOWN


def _free(part: Node) -> str:
    return re.sub(r"\\.", "", _text(part)) if part.type in {_PLAIN, "{", "}", ","} else ""


def _with_gaps(node: Node, start: int, end: int) -> str:
    """Give the text of a node from a byte to a byte, with a mark in the place of each expansion."""
    # A string without an end is cut within a letter; it is no command anyway.
    return b"".join(_pieces(node, start, end)).decode(errors="replace")


def _pieces(node: Node, start: int, end: int) -> Iterator[bytes]:
    whole, offset = node.text or b"", node.start_byte
    for child in node.named_children:
        if child.type in {"string_content", "heredoc_content"}:
            continue
        yield whole[start - offset : child.start_byte - offset]
        yield UNKNOWN.encode()
        start = child.end_byte
    yield whole[start - offset : end - offset]


def _escapes(text: str) -> str:
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _text(node: Node) -> str:
    return (node.text or b"").decode()
