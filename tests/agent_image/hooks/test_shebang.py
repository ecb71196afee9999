"""A script's first line says what runs it, and may say nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.hooks.shebang import Interpreter, interpreter


@pytest.mark.parametrize(
    ("script", "runs"),
    [
        ("true", (Interpreter.BASH, ())),
        ("", (Interpreter.BASH, ())),
        ("#!/bin/bash\ntrue", (Interpreter.BASH, ())),
        ("#!/bin/bash -e -u\r\ntrue", (Interpreter.BASH, ("-e", "-u"))),
        ("#!/usr/bin/env -S bash -eu\n", (Interpreter.BASH, ("-eu",))),
        ("#!/usr/bin/env python3", (Interpreter.PYTHON, ())),
        ("#! /usr/bin/python3 -I\n", (Interpreter.PYTHON, ("-I",))),
        ("#!/bin/sh\n", None),
        ("#!/bin/bash -c\n", None),
        ("\n#!/bin/bash\n", None),
        ("#!/bin/bashful\n", None),
        ("#!/bin/bash\x0b\n", None),
    ],
)
def test_bash_runs_a_script_that_does_not_say(script: str, runs: tuple[Interpreter, tuple[str, ...]] | None) -> None:
    """And nothing runs one that names something else."""
    assert interpreter(script) == runs


@given(st.text("#!/binashpytho3env -S\n\r\t", max_size=30))
def test_a_line_that_is_hidden_is_found(script: str) -> None:
    """Nothing that begins with such a line, white space aside, is run as if it had none."""
    if re.match(r"\s*#!", script):
        assert interpreter(script) is None or script.startswith("#!")
