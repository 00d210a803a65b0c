"""Text and HTML of the public classes for notebooks."""

from __future__ import annotations

import html
from typing import Optional

import pandas as pd


class Displayed:
    """Base class that shows an object as its repr, and in notebooks also as a table."""

    def _table_shown(self) -> Optional[pd.DataFrame]:
        """Returns the table for notebooks; None: notebooks show only the repr."""
        return None

    def _repr_html_(self) -> str:
        table = self._table_shown()
        return (f"<p><b>{html.escape(repr(self))}</b></p>"
                + ("" if table is None else str(table.to_html())))
