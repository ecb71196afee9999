"""Turn what matplotlib saves into an element of a page: no style of its own, no names from elsewhere, and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from xml.etree import ElementTree as ET

from cost_model.report.paint import as_property

MARK: Final = "mark"
"""Class of a group that stands for one figure, and says it when it is pointed at."""
_DROPPED: Final = frozenset({"metadata", "style"})
_OF_THE_PAGE: Final = frozenset({"font-family", "stroke-dashoffset"})


def inline(saved: str, name: str, title: str, words: str, tips: Mapping[str, str]) -> str:
    """Return an `<svg>` for a page that allows no style but its own.

    `name` is the chart's own among all of the page. `tips` maps the ids of groups to what they say.
    """
    root = ET.fromstring(saved)  # noqa: S314 - matplotlib wrote it a moment ago
    _plain_names(root)
    linked = {element.get("href", "").removeprefix("#") for element in root.iter("use")}
    for element in root.iter():
        _attributes(element, name, linked, tips)
    _without_empty(root)
    box = root.get("viewBox", "0 0 0 0")
    width, height = box.split()[2:]
    root.attrib.clear()
    root.attrib.update(
        {
            "viewBox": box,
            "width": width,
            "height": height,
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-words",
        }
    )
    root[:0] = [_said("title", f"{name}-title", title), _said("desc", f"{name}-words", words)]
    return ET.tostring(root, encoding="unicode")


def _plain_names(root: ET.Element) -> None:
    """Drop the namespaces: a page's parser puts them in by itself."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in [key for key in element.attrib if "}" in key]:
            element.set(key.rpartition("}")[2], element.attrib.pop(key))
        element.text, element.tail = (None if not (text or "").strip() else text for text in (element.text, ""))


def _attributes(element: ET.Element, name: str, linked: set[str], tips: Mapping[str, str]) -> None:
    for key, value in _declarations(element.attrib.pop("style", "")):
        if key not in _OF_THE_PAGE:
            element.set(key, as_property(value))
    own = element.attrib.pop("id", "")
    if own in linked:
        element.set("id", f"{name}-{own}")
    if own in tips:
        element.set("class", MARK)
        element.insert(0, _said("title", None, tips[own]))
    if element.get("href"):
        element.set("href", f"#{name}-{element.get('href', '').removeprefix('#')}")
    if element.get("d"):
        element.set("d", " ".join(element.get("d", "").split()))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    for declaration in style.split(";"):
        key, colon, value = declaration.partition(":")
        if colon:
            yield key.strip(), value.strip()


def _without_empty(element: ET.Element) -> None:
    for child in list(element):
        _without_empty(child)
        if child.tag in _DROPPED or (child.tag in {"g", "defs"} and not len(child)):
            element.remove(child)


def _said(tag: str, own: str | None, text: str) -> ET.Element:
    element = ET.Element(tag, {} if own is None else {"id": own})
    element.text = text
    return element
