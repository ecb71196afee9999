"""Refresh prices from where the command line says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from cost_model.price_list.asking import PriceListService
from cost_model.price_list.bulk_files import read_bulk_files
from cost_model.price_list.refreshing import Refreshed, Wish, check_region, refresh


def refresh_prices(wish: Wish, files: Iterable[Path], today: date) -> Refreshed:
    """Refresh from AWS, or from bulk files; these name the services where nobody else does.

    Raises:
        CostError: see `refresh`; or a file is no price list.
    """
    check_region(wish.region)
    paths = tuple(files)
    if not paths:
        return refresh(wish, PriceListService(), today)
    bulk = read_bulk_files(paths)
    return refresh(wish if wish.services else replace(wish, services=bulk.services), bulk, today)
