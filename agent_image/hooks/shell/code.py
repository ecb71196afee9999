"""Tell what Python code would run, by its syntax tree; nothing is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from agent_image.hooks.shell.danger import EXCERPT, Danger, Kind
from agent_image.hooks.shell.programs import written

LIMIT: Final = 65_536
"""Characters of code that are looked at; longer code is a danger."""

Judge = Callable[[str], Iterable[Danger]]
"""Finds what must not run in a text for a shell."""

_SHELL_TEXT: Final = frozenset({
    "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput",
})  # fmt: skip
_RUNS: Final = frozenset({
    "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen",
})  # fmt: skip
_STARTS: Final = ("os.exec", "os.spawn", "os.posix_spawn", "pty.spawn", "asyncio.create_subprocess", "commands.")
_UNTOLD: Final = frozenset({
    "eval", "exec", "compile", "__import__", "importlib.import_module", "importlib.__import__", "runpy.run_path",
    "runpy.run_module", "builtins.eval", "builtins.exec", "builtins.compile", "builtins.__import__", "globals",
    "locals", "vars", "getattr", "setattr", "code.interact", "__builtins__",
})  # fmt: skip
_WHOLE: Final = frozenset({"ctypes", "cffi", "posix", "_posixsubprocess"})
_ATTRIBUTES: Final = frozenset({
    "rmtree", "system", "popen", "getoutput", "getstatusoutput", "check_output", "check_call", "Popen",
})  # fmt: skip
_WRITABLE: Final = 0o2


def dangers_of(code: str, judge: Judge) -> tuple[Danger, ...]:
    """Find what must not run in Python code; code that is no Python is a danger itself.

    Args:
        code: the code.
        judge: judges what it hands to a shell.
    """
    try:
        tree = _parsed(code) if len(code) <= LIMIT else None
        found = list(_Code(tree, judge).found()) if tree is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None
    if found is None:
        return (Danger(Kind.UNREADABLE, code[:EXCERPT]),)
    starts = _line_starts(code)
    placed = (
        Danger(kind, (ast.get_source_segment(code, node) or "")[:EXCERPT], starts[node.lineno - 1])
        for node, kind in found
    )
    return tuple(dict.fromkeys(sorted(placed, key=lambda danger: danger.start)))


def _parsed(code: str) -> ast.AST:
    with warnings.catch_warnings():
        # Of odd escapes in somebody's code, nobody here is to be warned.
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _line_starts(code: str) -> list[int]:
    starts = [0]
    for line in code.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


class _Code:
    """Look through one tree, with the names that its imports give to things."""

    def __init__(self, tree: ast.AST, judge: Judge) -> None:
        self._nodes = list(ast.walk(tree))
        self._judge = judge
        self._names: dict[str, str] = {}
        self._stars: list[str] = []
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    self._names[name.asname or name.name.partition(".")[0]] = (
                        name.name if name.asname else name.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    self._names[name.asname or name.name] = f"{node.module}.{name.name}"
                    if name.name == "*":
                        self._stars.append(node.module or "")

    def found(self) -> Iterator[tuple[ast.expr | ast.stmt, Kind]]:
        """Give each place with what it would do."""
        called = {id(node.func) for node in self._nodes if isinstance(node, ast.Call)}
        for node in self._nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [name.name for name in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                if any(name.partition(".")[0] in _WHOLE for name in names):
                    yield node, Kind.FOREIGN
            elif isinstance(node, ast.Call):
                for kind in self._call(node):
                    yield node, kind
            elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in called and self._is_kept(node):
                # Whoever keeps such a function may call it by any name.
                yield node, Kind.UNTOLD

    def _is_kept(self, node: ast.Name | ast.Attribute) -> bool:
        name = self._dotted(node)
        return name in _SHELL_TEXT | _RUNS | _UNTOLD | {"shutil.rmtree"} or name.startswith(_STARTS)

    def _call(self, call: ast.Call) -> Iterator[Kind]:
        names = {self._dotted(call.func)}
        if isinstance(call.func, ast.Name):
            names |= {f"{module}.{call.func.id}" for module in self._stars}
        last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if any(name == "shutil.rmtree" for name in names) or last == "rmtree":
            yield Kind.DELETES
        elif names & _SHELL_TEXT:
            yield from self._text(call.args[0] if call.args else None)
        elif names & _RUNS:
            yield from self._run(call)
        elif names & _UNTOLD or any(name.startswith(_STARTS) for name in names) or last in _ATTRIBUTES:
            yield Kind.UNTOLD
        elif "os.chmod" in names or last == "chmod":
            yield from _rights(call)
        elif "open" in names or last in {"open", "write_text", "write_bytes"}:
            yield from _opened(call)
        elif names & {"os.kill", "os.killpg"} and _is_everything(call):
            yield Kind.POWER

    def _run(self, call: ast.Call) -> Iterator[Kind]:
        shell = any(word.arg is None or (word.arg == "shell" and not _is_false(word.value)) for word in call.keywords)
        given = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "args"), None)
        if shell or (isinstance(given, ast.Constant) and isinstance(given.value, str)):
            yield from self._text(given)
        elif isinstance(given, ast.List | ast.Tuple):
            yield from self._words(given)
        else:
            yield Kind.UNTOLD

    def _text(self, given: ast.expr | None) -> Iterator[Kind]:
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield from (danger.kind for danger in self._judge(given.value))
        else:
            yield Kind.UNTOLD

    def _words(self, given: ast.List | ast.Tuple) -> Iterator[Kind]:
        words = []
        for position, item in enumerate(given.elts):
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                words.append("'" + item.value.replace("'", "'\\''") + "'")
            else:
                # What is not written out may be anything: as a variable of a shell.
                words.append(f'"$_{position}"')
        yield from (danger.kind for danger in self._judge(" ".join(words)))

    def _dotted(self, node: ast.expr) -> str:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self._names.get(node.id, node.id), *reversed(parts)])


def _rights(call: ast.Call) -> Iterator[Kind]:
    given = [*call.args, *(word.value for word in call.keywords)]
    numbers = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, int)]
    if not numbers:
        yield Kind.UNTOLD
    elif any(number & _WRITABLE for number in numbers):
        yield Kind.PERMISSIONS


def _opened(call: ast.Call) -> Iterator[Kind]:
    path, *rest = [*call.args, None]
    texts = [one.value for one in [*rest, *(word.value for word in call.keywords)] if isinstance(one, ast.Constant)]
    writes = any(isinstance(text, str) and set(text) & set("wax+") and len(text) <= len("wb+") for text in texts)
    if writes and isinstance(path, ast.Constant) and isinstance(path.value, str):
        yield from written(path.value)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _is_everything(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.UnaryOp)
