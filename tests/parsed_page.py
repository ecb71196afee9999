"""Read a page of HTML as a browser does."""

from __future__ import annotations

from collections.abc import Iterable
from html.parser import HTMLParser

VOID = {"meta"}


class Parsed(HTMLParser):
    """Read a page as a browser does: which elements, which attributes, which text; and whether all closes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    @property
    def all_text(self) -> str:
        return " ".join("".join(self.text).split())

    def values(self, name: str) -> Iterable[str]:
        """Yield an attribute of every element that has it."""
        return [attrs[name] or "" for _, attrs in self.elements if name in attrs]
