"""Whatever stands around it, a danger stays one; and to speak of it stays harmless."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from agent_image.hooks.shell import Kind, dangers
from tests.agent_image.hooks.shell.spellings import DANGERS, HARMLESS, REMOVING

AROUND = (
    "{}",
    "ls\n{}",
    "( {}\n)",
    "{{ {}\n}}",
    "if true; then {}\nfi",
    "while true; do {}\ndone",
    "f() {{ {}\n}}; f",
    "case a in a) {}\n;; esac",
    "ls && {}",
    "echo $({}\n)",
    "cat <({}\n)",
)
IN_A_WORD = (
    "sh -c {}",
    "bash -lc {}",
    "eval {}",
    "env A=1 bash -c {}",
    "timeout 5 sh -c {} _ a",
    "nohup nice sh -c {} &",
    "bash <<< {}",
    "trap {} EXIT",
    "some-wrapper sh -c {}",
)
LINES = [line for line in REMOVING if "<<EOF" not in line and "<<'EOF'" not in line]
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), max_size=20)


@given(st.sampled_from(LINES), st.lists(st.sampled_from(AROUND + IN_A_WORD), max_size=4))
def test_a_danger_stays_one_whatever_is_around_it(command: str, around: list[str]) -> None:
    """Constructs of the shell, other programs, and shells within shells."""
    for form in around:
        command = form.format(shlex.quote(command) if form in IN_A_WORD else command)

    assert dangers(command)


@given(st.sampled_from([*REMOVING, *(one for kind in DANGERS if kind is not Kind.UNREADABLE for one in DANGERS[kind])]))
def test_to_speak_of_a_danger_is_harmless(command: str) -> None:
    """Quoted, it is a word: for echo, in a message, in what is searched for."""
    if "\\\n" in command:
        return
    word = shlex.quote(command)

    assert dangers(f"echo {word}") == ()
    assert dangers(f"git commit -m {word}; grep -r {word} .") == ()


@given(st.sampled_from(HARMLESS), st.sampled_from(IN_A_WORD))
def test_what_is_harmless_stays_so_in_another_shell(command: str, form: str) -> None:
    """Nothing is refused because it is handed on."""
    if "\\\n" not in command:
        assert dangers(form.format(shlex.quote(command))) == ()


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_any_words_are_read_as_they_were_quoted(words: list[str]) -> None:
    """Whatever a word holds, it is one word to the shell that echo prints."""
    assert dangers(f"echo {shlex.join(words)}") == ()


@given(st.text(max_size=60))
def test_any_text_is_looked_through(text: str) -> None:
    """None of them breaks what reads it."""
    assert isinstance(dangers(text), tuple)


@given(st.text("rm -f'\"\\$(){}`;&|<>\n#x/*", max_size=40))
def test_any_knot_of_quotes_is_looked_through(text: str) -> None:
    """The signs of the shell in any order."""
    assert isinstance(dangers(f"{text} rm -rf x"), tuple)
