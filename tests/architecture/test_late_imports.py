"""A process that starts waits for no package that it may never need."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

LATE = ("genai_prices", "phonenumbers", "psycopg", "sqlalchemy")
"""Packages that take long to import: what needs them imports them when it does."""


def test_a_start_imports_no_package_before_its_time() -> None:
    """Prices at the first priced call, telephone numbers at the first number, a database's driver with its store."""
    program = f"import sys, agent_image.__main__; print(*(name for name in {LATE!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
