"""Write what is typed: every command of `rastro`, from the code that reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from console.cli import app
from docs.markdown import code, table


def commands() -> str:
    """Write every command with its arguments and options, in the order in which help lists them."""
    return "\n\n".join(_commands(get_command(app), "rastro"))


def _commands(command: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - typer keeps click's types to itself
    if isinstance(command, TyperGroup):
        for name, one in command.commands.items():
            yield from _commands(one, f"{path} {name}")
        return
    context = command.context_class(command, info_name=path)
    yield f"## {path}"
    yield f"`{path} {' '.join(command.collect_usage_pieces(context))}`"
    yield "\n\n".join(" ".join(part.split()) for part in command.help.split("\n\n"))
    rows = [_option(one, context) for one in command.params]
    if rows:
        yield table(("argument or option", "value", "default", "meaning"), rows)


def _option(one: Any, context: Any) -> tuple[str, str, str, str]:  # noqa: ANN401 - as above
    takes = "" if getattr(one, "is_flag", False) else one.make_metavar(context)
    default = getattr(one.default, "value", one.default)
    told = one.required or not takes or default is None or default == () or callable(default)
    shown = "required" if one.required else "" if told else f"`{default}`"
    again = ", more than once" if getattr(one, "multiple", False) else ""
    value = f"`{takes}`{again}" if takes else ""
    if one.param_type_name == "argument":
        return value, "", shown, one.help or ""
    return code([*one.opts, *one.secondary_opts]), value, shown, one.help or ""
