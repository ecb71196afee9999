"""Make the image once."""

from __future__ import annotations

import pytest

from tests.e2e.image import Image


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return Image.made_in(tmp_path_factory.mktemp("image"))
