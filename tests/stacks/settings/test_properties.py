"""Whatever a settings file holds, loading it gives settings or faults, and never anything else."""

from __future__ import annotations

import tomllib
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stacks.settings.fault import SettingsError
from tests.stacks.settings.folder import SHIPPED, SHIPPED_FILES, Folder
from tests.stacks.settings.values import TEXTS, Value, values, written

Table = dict[str, Value]
KeyPath = tuple[str | int, ...]
TABLES: dict[str, Table] = {
    file: tomllib.loads((SHIPPED / file).read_text(encoding="utf-8"), parse_float=Decimal) for file in SHIPPED_FILES
}
OPTIONAL = (
    ("role",),
    ("role", "arn"),
    ("role", "permissions_boundary_arn"),
    ("auth", "audiences"),
    ("auth", "clients"),
    ("network", "subnets"),
    ("observability", "kms_key_arn"),
    ("agent", "index_version"),
    ("agent", "artifact"),
    ("agent", "bundle"),
    ("agent", "top_k"),
    ("observability", "destination"),
    ("observability", "destination_headers_secret_arn"),
    ("observability", "kept_sessions"),
    ("observability", "prune_event_loop"),
    ("guard", "webhook"),
    ("guard", "approval_minutes_by_zone"),
    ("guard", "tools"),
    ("guard", "tools", "refund_order"),
    ("guard", "tools", "refund_order", "red_when"),
    ("guard", "prices", "m"),
    ("hooks",),
    ("hooks", "agent"),
    ("hooks", "models"),
    ("hooks", "models", "fast"),
)
"""Keys that no shipped file sets."""


def _paths(value: Value, prefix: KeyPath = ()) -> list[KeyPath]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, child in inner for path in ((*prefix, key), *_paths(child, (*prefix, key)))]


KEYS = sorted({str(key) for table in TABLES.values() for path in _paths(table) for key in path})
WORDS = st.sampled_from([*KEYS, "VPC", "JWT", "IAM", "PUBLIC", "s3", "local", "int", "[key]", "content", "newest", ""])
PLACES = [(file, path) for file, table in TABLES.items() for path in _paths(table)]
PLACES += [("dev.toml", path) for path in OPTIONAL]
ANYTHING = values(st.one_of(WORDS, TEXTS)) | WORDS
SEVERAL = (("owner",), ("account",), ("agent", "name"), ("agent", "image"), ("network", "mode"))
UNHURRIED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _with(table: Table, path: KeyPath, new: Value) -> Table:
    """Copy a table with the value at one key path replaced, or added."""
    copy = deepcopy(table)
    spot: Any = copy
    for key in path[:-1]:
        spot = spot.setdefault(key, {}) if isinstance(spot, dict) else spot[key]
    spot[path[-1]] = new
    return copy


def _check(folder: Folder) -> None:
    """Load a folder: settings, or an error whose text is one printable line for each fault."""
    faults = folder.faults()
    _, *lines = str(SettingsError(faults)).split("\n")
    assert len(lines) == len(faults)
    assert all(line.isprintable() for line in lines)


def _rewrite(folder: Folder, file: str, table: Table) -> None:
    folder.write(file, "\n".join(f"{written(key)} = {written(value)}" for key, value in table.items()))


@pytest.mark.parametrize("file", SHIPPED_FILES)
def test_a_file_written_anew_still_loads(file: str, folder: Folder) -> None:
    """The tests' own way of writing TOML keeps what the shipped files say."""
    _rewrite(folder, file, TABLES[file])
    assert folder.faults() == ()


@UNHURRIED
@given(place=st.sampled_from(PLACES), value=ANYTHING)
def test_any_value_in_any_place_is_taken_or_refused(folder: Folder, place: tuple[str, KeyPath], value: Value) -> None:
    """Any one value of the shipped files replaced by anything gives settings or faults."""
    file, path = place
    for each in SHIPPED_FILES:
        _rewrite(folder, each, _with(TABLES[each], path, value) if each == file else TABLES[each])
    _check(folder)


@UNHURRIED
@given(
    tables=st.fixed_dictionaries({file: st.dictionaries(WORDS | TEXTS, ANYTHING, max_size=6) for file in SHIPPED_FILES})
)
def test_any_tables_at_all_are_taken_or_refused(folder: Folder, tables: dict[str, dict[str, Value]]) -> None:
    """Files that hold any tables, with known keys among their keys, give settings or faults."""
    for file, table in tables.items():
        _rewrite(folder, file, table)
    _check(folder)


@UNHURRIED
@given(
    texts=st.fixed_dictionaries(dict.fromkeys(SEVERAL, TEXTS)),
    key=TEXTS,
    regex=TEXTS | st.from_regex(r"[a-zA-Z0-9 _#=@/;,^$?\[\]{}|\\*+.-]{0,12}", fullmatch=True),
)
def test_any_texts_in_several_places_are_taken_or_refused(
    folder: Folder, texts: dict[KeyPath, str], key: str, regex: str
) -> None:
    """Any texts, as values, as key and as pattern, give settings or faults on printable lines."""
    table = _with(TABLES["dev.toml"], ("observability", "masking", "patterns"), {key: regex})
    for path, text in texts.items():
        table = _with(table, path, text)
    _rewrite(folder, "dev.toml", table)
    _check(folder)


@UNHURRIED
@given(raw=st.binary(max_size=200) | TEXTS.map(str.encode))
def test_any_bytes_in_a_file_are_taken_or_refused(folder: Folder, raw: bytes) -> None:
    """A file of any bytes gives settings or faults."""
    folder.write("dev.toml", raw)
    folder.write("accounts/sandbox.toml", raw)
    _check(folder)
