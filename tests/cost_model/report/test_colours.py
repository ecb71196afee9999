"""Colours stand apart from the page and from each other, for people who see fewer of them as well."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cost_model.report import page
from cost_model.report.growth_lines import STYLES
from cost_model.report.paint import SERIES, Paint

Numbers = NDArray[np.float64]

CSS = (Path(page.__file__).parent / "page.css").read_text()
PROPERTY = re.compile(r"--([a-z0-9]+): (#[0-9a-f]{6});")
LIGHT, DARK, PAPER = (dict(PROPERTY.findall(block)) for block in re.findall(r":root \{([^}]*)\}", CSS))
# How a colour is seen without one kind of cone: Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
SIGHT: dict[str, Numbers] = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> Numbers:
    shades = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Compare two colours as the accessibility guidelines do, 1 to 21."""
    dark, light = sorted(float(linear(colour) @ XYZ[1]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, sight: Numbers) -> Numbers:
    part = XYZ @ np.clip(sight @ linear(colour), 0, 1) / WHITE
    root = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("colours", [LIGHT, DARK, PAPER], ids=["light", "dark", "paper"])
def test_every_colour_is_there_and_stands_apart_from_the_page(colours: dict[str, str]) -> None:
    """Marks at 3 to 1 and words at 4.5 to 1, as the accessibility guidelines ask."""
    assert {paint.value for paint in Paint} <= colours.keys()
    marks = (*SERIES, Paint.REST, Paint.MORE, Paint.LESS)
    words = ("ink", "dim", "accent")

    assert [paint.value for paint in marks if contrast(colours[paint.value], colours["card"]) < 3] == []
    assert [
        word for word in words for under in ("card", "paper") if contrast(colours[word], colours[under]) < 4.5
    ] == []


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colours", [LIGHT, DARK, PAPER], ids=["light", "dark", "paper"])
def test_no_two_colours_look_alike(colours: dict[str, str], sight: str) -> None:
    """A distance of 15 in CIELAB is seen at once; 2 is about the least that anybody sees."""
    for group in ((*SERIES, Paint.REST), (Paint.MORE, Paint.LESS)):
        seen = {paint.value: lab(colours[paint.value], SIGHT[sight]) for paint in group}
        near = [
            (one, other) for one, other in combinations(seen, 2) if float(np.linalg.norm(seen[one] - seen[other])) < 15
        ]
        assert near == []


def test_lines_differ_in_more_than_their_colour() -> None:
    """Dashes or marks tell them apart in black and white."""
    assert len({mark for _, _, mark in STYLES.values()}) == len(STYLES)
