"""Parse a command, and judge whatever in it would run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from agent_image.hooks.shell.carriers import SHELLS, carried, evaluates
from agent_image.hooks.shell.code import dangers_of
from agent_image.hooks.shell.danger import EXCERPT, Danger, Kind
from agent_image.hooks.shell.options import UNKNOWN
from agent_image.hooks.shell.parts import Code, Command, Part, Shell
from agent_image.hooks.shell.programs import RULES, WORDS_ONLY, judged, written
from agent_image.hooks.shell.words import document_of, is_overlooked, is_quoted, word_of
from agent_image.hooks.shell.wrappers import changes_meaning

LIMIT: Final = 65_536
"""Characters of a command that are looked at; a longer one is a danger."""
_DEPTH: Final = 12
_WORK: Final = 8 * LIMIT
"""Characters that are looked at for one command, each time that it is looked at: texts within texts add up."""
_TAILS: Final = 50
"""How often a word of a command may itself be the name of a program that is looked at."""
_BASH: Final = Language(tree_sitter_bash.language())
# What other readers of a command take for the end of a word, and the shell does not.
_ODD: Final = re.compile(r"[^\S \t\n]|[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
# The grammar ends a word here; the shell goes on with it.
_WORD_GOES_ON: Final = re.compile(r"[^\s\\](?:\\\\)*\\\n[^\s]")
_TEXT_FOLLOWS: Final = re.compile("-[A-Za-z]*c")
_NAMED: Final = frozenset({*RULES, *SHELLS, "find", "eval", "python", "python3"})


def dangers(command: str) -> tuple[Danger, ...]:
    """Find what must not run, in the order of the text; none where nothing was found."""
    return _all(command, lambda left: _dangers(command, 0, left))


def dangers_of_code(code: str) -> tuple[Danger, ...]:
    """Find what must not run in Python code, in its order; code that is no Python is a danger itself."""
    return _all(code, lambda left: dangers_of(code, lambda text: _dangers(text, 1, left)))


@dataclass(slots=True)
class _Left:
    """Count what may still be looked at."""

    characters: int = _WORK

    def take(self, characters: int) -> bool:
        self.characters -= characters
        return self.characters >= 0


def _all(text: str, find: Callable[[_Left], Iterable[Danger]]) -> tuple[Danger, ...]:
    left = _Left()
    found = sorted(find(left), key=lambda danger: danger.start)
    if left.characters < 0:
        found.append(Danger(Kind.UNREADABLE, text[:EXCERPT]))
    return tuple(dict.fromkeys(found))


def _dangers(text: str, depth: int, left: _Left) -> Iterator[Danger]:
    odd = _ODD.search(text) or _WORD_GOES_ON.search(text)
    if odd or len(text) > LIMIT or depth > _DEPTH or not left.take(len(text)):
        yield Danger(Kind.UNREADABLE, text[:EXCERPT], odd.start() if odd else 0)
        return
    whole = text.encode()
    for node, kind in _found(Parser(_BASH).parse(whole).root_node, depth, left):
        excerpt = (node.text or b"").decode()[:EXCERPT]
        yield Danger(kind, excerpt, len(whole[: node.start_byte].decode()))


def _found(root: Node, depth: int, left: _Left) -> Iterator[tuple[Node, Kind]]:
    nodes = list(_walk(root))
    redirects: dict[int, list[Node]] = {}
    for node in nodes:
        if node.type == "redirected_statement":
            owner, own = _owner(node), node.children_by_field_name("redirect")
            if owner is not None:
                redirects.setdefault(owner.id, []).extend(own)
            elif any(_strays(redirect) for redirect in own):
                yield node, Kind.UNREADABLE
    for node in nodes:
        if node.type == "command":
            own = [*node.children_by_field_name("redirect"), *redirects.get(node.id, ())]
            for kind in _command(_read(node, own), depth, left):
                yield node, kind
        else:
            for kind in _otherwise(node):
                yield node, kind


def _walk(root: Node) -> Iterator[Node]:
    left = [root]
    while left:
        node = left.pop()
        yield node
        left.extend(reversed(node.children))


def _owner(statement: Node) -> Node | None:
    """Give the command that a redirection belongs to; of several in a row the last one."""
    body = statement.child_by_field_name("body")
    while body is not None and body.type in {"list", "pipeline", "negated_command"}:
        body = body.named_children[-1]
    return body if body is not None and body.type == "command" else None


def _read(node: Node, redirects: list[Node]) -> Command:
    name = node.child_by_field_name("name")
    words = [word_of(part) for part in (name.children if name is not None else ())]
    words += [word_of(part) for part in node.children_by_field_name("argument")]
    words += [word_of(part) for redirect in redirects for part in _strays(redirect)]
    # A subshell that follows a word, as in `time (…)`, is walked by itself.
    return Command(tuple(words), tuple(text for redirect in redirects for text in _inputs(redirect)))


def _strays(redirect: Node) -> list[Node]:
    """Give the words of a command that the grammar counts to the redirection before them."""
    if redirect.type == "heredoc_redirect":
        inner = [word for one in redirect.children_by_field_name("redirect") for word in _strays(one)]
        return [*redirect.children_by_field_name("argument"), *inner]
    return redirect.children_by_field_name("destination")[1:] if redirect.type == "file_redirect" else []


def _inputs(redirect: Node) -> Iterator[str]:
    match redirect.type:
        case "heredoc_redirect":
            bodies = [child for child in redirect.children if child.type == "heredoc_body"]
            starts = [child for child in redirect.children if child.type == "heredoc_start"]
            yield from (document_of(body, start) for body, start in zip(bodies, starts, strict=False))
        case "herestring_redirect":
            yield word_of(redirect.named_children[-1])
        case "file_redirect" if _sign(redirect).startswith("<"):
            place = _place(redirect)
            # A file is a script like any other, which is not looked into.
            yield "" if UNKNOWN not in place and (place == "/dev/null" or not place.startswith("/dev")) else UNKNOWN


def _open_bodies(redirect: Node) -> Iterator[Node]:
    """Give the here-documents in which the shell expands."""
    bodies = [child for child in redirect.children if child.type == "heredoc_body"]
    starts = [child for child in redirect.children if child.type == "heredoc_start"]
    yield from (body for body, start in zip(bodies, starts, strict=False) if not is_quoted(start))


def _sign(redirect: Node) -> str:
    return next((child.type for child in redirect.children if set(child.type) & set("<>")), "")


def _place(redirect: Node) -> str:
    places = redirect.children_by_field_name("destination")
    return word_of(places[0]) if places else ""


def _otherwise(node: Node) -> Iterator[Kind]:  # noqa: C901, PLR0912 - one case for each form of the grammar
    if node.is_error or node.is_missing:
        yield Kind.UNREADABLE
    match node.type:
        case "file_redirect" if ">" in _sign(node):
            yield from written(_place(node))
        case "variable_assignment" | "for_statement":
            variable = node.child_by_field_name("name") or node.child_by_field_name("variable")
            value = node.child_by_field_name("value")
            if variable is not None and changes_meaning((variable.text or b"").decode()):
                yield Kind.MEANING
            if value is not None and node.type == "variable_assignment" and evaluates(word_of(value)):
                yield Kind.UNTOLD
        case "declaration_command" | "unset_command":
            for word in (word_of(child) for child in node.named_children if child.type != "variable_assignment"):
                if evaluates(word):
                    yield Kind.UNTOLD
                if changes_meaning(word.partition("=")[0]) and "=" in word:
                    yield Kind.MEANING
        case "function_definition":
            name = node.child_by_field_name("name")
            calls = (one.child_by_field_name("name") for one in _walk(node) if one.type == "command")
            if name is not None and any(call is not None and call.text == name.text for call in calls):
                yield Kind.ENDLESS
        case "expansion" if (node.text or b"").endswith(b"@P}"):
            yield Kind.UNTOLD
        case "word" | "regex" | "extglob_pattern" | "string_content" | "heredoc_content" if is_overlooked(node):
            yield Kind.UNTOLD
        case "heredoc_redirect" if any(is_overlooked(body) for body in _open_bodies(node)):
            yield Kind.UNTOLD
        case "command_substitution" if (node.text or b"").startswith(b"`") and b"\\" in (node.text or b""):
            yield Kind.UNTOLD


def _command(command: Command, depth: int, left: _Left) -> Iterator[Kind]:
    if not command.words:
        return
    if UNKNOWN in command.words[0]:
        yield Kind.UNTOLD
        return
    yield from _itself(command, depth, left)
    if command.name in WORDS_ONLY:
        return
    # Whatever program this is: it may run what stands behind its name.
    places = [at for at, word in enumerate(command.words[1:], 1) if word.rpartition("/")[2] in _NAMED]
    if len(places) > _TAILS:
        yield Kind.UNREADABLE
        return
    for at in places:
        inner = Command(command.words[at:])
        # `install bash` is a word like any other; a shell that gets a text is none.
        certain = inner.name in SHELLS and any(_TEXT_FOLLOWS.match(word) for word in inner.words)
        yield from (kind for kind in _itself(inner, depth, left) if certain or kind is not Kind.UNTOLD)


def _itself(command: Command, depth: int, left: _Left) -> Iterator[Kind]:
    if not left.take(sum(len(word) + 1 for word in command.words)):
        yield Kind.UNREADABLE
        return
    yield from judged(command.name, command.words[1:])
    for part in carried(command):
        yield from _part(part, depth + 1, left)


def _part(part: Part, depth: int, left: _Left) -> Iterator[Kind]:
    match part:
        case Kind():
            yield part
        case Command():
            yield from _command(part, depth, left) if depth <= _DEPTH else (Kind.UNREADABLE,)
        case Shell(text) | Code(text) if UNKNOWN in text:
            yield Kind.UNTOLD
        case Shell(text):
            yield from (danger.kind for danger in _dangers(text, depth, left))
        case Code(text):
            yield from (danger.kind for danger in dangers_of(text, lambda inner: _dangers(inner, depth, left)))
