"""Check which references are found in a string."""

from __future__ import annotations

import pytest

from tests.terraform_schema.references import references_in


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("${aws_a.b.c}", [("aws_a.b", "c")]),
        ("${data.aws_a.b.c}", [("data.aws_a.b", "c")]),
        ("x/${aws_a.b.c}/${aws_d.e-1.f}", [("aws_a.b", "c"), ("aws_d.e-1", "f")]),
        ("${aws_a.b[0].c}", [("aws_a.b", "c")]),
        ('${aws_a.b[\\"k\\"].c}', [("aws_a.b", "c")]),
        ("${aws_a.b[*].c}", [("aws_a.b", "c")]),
        ("${aws_a.b.*.c}", [("aws_a.b", "c")]),
        ("${aws_a.b.c[0].d}", [("aws_a.b", "c")]),
        ("${jsonencode(aws_a.b)}", [("aws_a.b", None)]),
        ('${join(",", [for x in aws_a.b.c : "${aws_d.e.f}"])}', [("aws_a.b", "c"), ("aws_d.e", "f")]),
        ("$${aws_a.b.c}", []),
        ("aws_a.b.c", []),
        ("${module.x.aws_a.b.c}", []),
        ("${var.aws_a}", []),
    ],
)
def test_references_in_text(text: str, read: list[tuple[str, str | None]]) -> None:
    """Every traversal inside an expression is found, and nothing outside of one."""
    assert [(reference.address, reference.attribute) for reference in references_in(text)] == read
