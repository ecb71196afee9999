"""What the page about the agent says is what the code does."""

from __future__ import annotations

import re

import pytest

from agent_image.contract import Regime, Setting, Span, Verdict
from agent_image.faults import FAULTS
from agent_image.retrieval.failure import Failure
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "agent.md").read_text()
IMAGE = sorted((ROOT / "agent_image").rglob("*.py"))
# The guard's settings and attributes are described where the guard is.
LATER_SETTINGS = {Setting.AUDIT, Setting.ALERTS, Setting.GUARD}
# Sampling reads what the guard will set.
KIT_ATTRIBUTES = [span for span in Span if span.startswith(("rag.", "rastro.")) and span is not Span.DECISION]
NOTICES = re.compile(r'(?:\bnotice|_tell|_raised)\(\s*"([a-z_]+)"')
CODES = re.compile(r'BadInvocation\(\s*"([a-z_]+)"')


@pytest.mark.parametrize("setting", [setting for setting in Setting if setting not in LATER_SETTINGS])
def test_every_setting_is_described(setting: Setting) -> None:
    """A key that the process takes stands in the table."""
    assert f"`{setting}`" in PAGE


@pytest.mark.parametrize("attribute", KIT_ATTRIBUTES)
def test_every_attribute_that_the_image_sets_is_described(attribute: Span) -> None:
    """An attribute that no code of the image names is not there yet."""
    code = "\n".join(path.read_text() for path in IMAGE if path.name != "contract.py")

    assert (f"Span.{attribute.name}" in code) == (f"`{attribute}`" in PAGE)


def test_every_code_is_described() -> None:
    """A program that talks to the agent knows what it may get."""
    refusals = {code for path in IMAGE for code in CODES.findall(path.read_text())}
    codes = refusals | {fault.code for fault in FAULTS} | set(Failure)

    assert len(refusals) >= 7
    assert {code for code in codes if f"`{code}`" not in PAGE} == set()


def test_every_notice_is_described() -> None:
    """An operator who meets one finds it here."""
    notices = {code for path in IMAGE for code in NOTICES.findall(path.read_text())}

    assert len(notices) >= 10
    assert {code for code in notices if f"`{code}`" not in PAGE} == set()


@pytest.mark.parametrize("word", [*Regime, *Verdict])
def test_regimes_and_verdicts_are_named(word: str) -> None:
    """Under the names that the contract gives them."""
    assert word in PAGE


def test_the_example_of_a_tool_is_code_that_runs() -> None:
    """It makes a green tool."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)  # noqa: S102 - our own page

    tool = names["OPENING_HOURS"]
    assert (tool.tool.tool_name, tool.zone) == ("opening_hours", "green")  # type: ignore[attr-defined]
