"""Write the commands that mend something, each as it can be pasted into a shell."""

from __future__ import annotations

import shlex

from console.doctor.declared import Declared


def aws(declared: Declared, *words: str, **options: str | int) -> str:
    """Write a command of the AWS CLI; options go by their names, with `_` for `-`."""
    given = ("region", declared.region), *options.items()
    said = (f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in given)
    return " ".join(("aws", *words, *said))


def rastro(declared: Declared, *words: str) -> str:
    """Write a command of this kit for the environment."""
    return f"rastro {shlex.join(words)} --environment {shlex.quote(declared.environment)}"


def ask(declared: Declared) -> str:
    """Write the command that asks the agent once."""
    return rastro(declared, "ask", "What may I expense?")


def deploy(declared: Declared) -> str:
    """Name the command that brings what is declared about again."""
    return f"make deploy ENV={declared.environment}"
