"""The pages say what the code does."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

GENERATE = runpy.run_path(str(ROOT / "docs" / "generate.py"))
PAGES = sorted(
    [ROOT / name for name in ("README.md", "CHANGELOG.md")] + list((ROOT / "docs").rglob("*.md")),
)


@pytest.mark.parametrize("page", GENERATE["PAGES"], ids=lambda page: page.name)
def test_generated_parts_are_current(page: Path) -> None:
    """A table that repeats the code is written by the code: run `make docs` after a change."""
    assert page.read_text() == GENERATE["rendered"](page), "run `make docs` and commit the pages"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_that_a_page_names_exists(page: Path) -> None:
    """A reader who types what stands there gets somewhere."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^ *)make ([a-z-]+)", page.read_text(), re.MULTILINE))

    assert named - targets == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    """Links within the project hold."""
    links = re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text())

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_output_of_a_stack_is_in_the_readme() -> None:
    """The list of outputs is the list of outputs."""
    declared = set(re.findall(r'output\(stack, "(\w+)"', (ROOT / "stacks" / "outputs.py").read_text()))
    readme = (ROOT / "README.md").read_text()

    assert declared
    assert {name for name in declared if f"`{name}`" not in readme} == set()


def test_help_lists_every_target() -> None:
    """`make` alone says what there is."""
    answer = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607 - so does make
    phony = re.search(r"^\.PHONY: (help .+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert phony is not None
    assert {line.split()[0] for line in answer.stdout.splitlines()} == set(phony[1].split())
    assert "\x1b" not in answer.stdout
