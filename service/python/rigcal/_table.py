"""Recordings in memory as columns of numbers."""

from __future__ import annotations

import os
import re
from datetime import datetime, timedelta
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rigcal.errors import InputError
from rigcal.rig import Rig

#: A recording: a file, a table (pandas, polars or a structured array) with the columns that the rig
#: file names, or columns by name.
RecordingLike = Union[str, "os.PathLike[str]", pd.DataFrame, Mapping[str, Any], NDArray[Any]]
RecordingsLike = Union[RecordingLike, Sequence[RecordingLike]]

#: Texts that mean "no reading", in lower case; the same as in a text file.
_MISSING = {"", "nan", "-nan", "+nan", "na", "n/a", "#n/a", "<na>", "null", "none", "-", "--", "?"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_DURATION = re.compile(r"(\d+ days? )?\d\d?:\d\d:\d\d(\.\d+)?$")

_KINDS = (str, os.PathLike, pd.DataFrame, Mapping)


def _as_table(recording: Any, name: str) -> Any:
    """Converts a polars DataFrame or a structured array to columns by name.

    Returns other recordings unchanged. Raises InputError with a remedy for other libraries' tables.
    """
    library, kind = type(recording).__module__.split(".")[0], type(recording).__name__
    if library == "polars" and kind == "DataFrame":
        return {column: recording[column].to_numpy() for column in recording.columns}
    if isinstance(recording, _KINDS):
        return recording
    if isinstance(recording, np.ndarray) and recording.dtype.names is not None:
        return {column: recording[column] for column in recording.dtype.names}
    if isinstance(recording, np.ndarray):
        raise InputError(f"{name} is an array without names of its columns; give them by name, such "
                         "as {'t': x[:, 0], 'angle': x[:, 1]}")
    given = f"a {kind}"
    if library == "polars" and kind == "LazyFrame":
        raise InputError(f"{name} is {given} of polars, which has no data yet; give its collect()")
    if isinstance(recording, pd.Series) or kind == "Series":
        raise InputError(f"{name} is a Series, which is one column; give a DataFrame with all columns")
    for method in ("to_pandas", "to_dataframe"):
        if hasattr(recording, method):
            raise InputError(f"{name} is {given} of {library}; give its {method}()")
    raise InputError(f"{name} is {given}; give a path, a DataFrame, or arrays by the names of their "
                     "columns")


def is_one_recording(recordings: Any) -> bool:
    """Returns whether an argument is one recording, not a sequence of recordings."""
    return isinstance(recordings, (*_KINDS, np.ndarray)) or not isinstance(recordings, (list, tuple)) and (
        hasattr(recordings, "columns") or not hasattr(recordings, "__iter__"))


def list_recordings(recordings: RecordingsLike) -> list[RecordingLike]:
    """Returns recordings as a list; raises InputError if a recording is given twice."""
    many: Any = recordings
    given: list[Any] = [recordings] if is_one_recording(recordings) else list(many)
    if not given:
        raise InputError("no recording was given; give a file or a table")
    listed = []
    for index, recording in enumerate(given):
        listed.append(_as_table(recording, f"recording {index + 1}"))
        tables = not isinstance(recording, (str, os.PathLike))
        if tables and any(recording is other for other in given[:index]):
            raise InputError(f"recording {index + 1} is given twice; its samples would count double")
    return listed


def name_of(recording: RecordingLike, index: int) -> str:
    """Returns a recording's name for messages: its path, a table's attrs["name"], or its number."""
    if isinstance(recording, (str, os.PathLike)):
        return os.fspath(recording)
    name = recording.attrs.get("name") if isinstance(recording, pd.DataFrame) else None
    return str(name) if name else f"recording {index + 1}"


def columns_of(recording: RecordingLike, name: str,
               rig: Optional[Rig] = None) -> dict[str, NDArray[np.float64]]:
    """Returns the columns of a table as numbers; {} for a file. A named index is also a column.

    A time column of dates or durations, or of such ISO 8601 texts, becomes the time since the first
    row, in the unit of the rig file. Words for a missing reading, such as "null", become NaN.
    Columns that the rig file does not use may contain anything.
    """
    if isinstance(recording, (str, os.PathLike)):
        return {}
    recording = _as_table(recording, name)
    needed = rig.columns if rig else []
    time, unit = rig._facts.time_column if rig else ("", 1.0)
    if isinstance(recording, pd.DataFrame):
        recording = _with_index(recording, name, time)
    columns = {}
    for column in recording:
        values = _plain(recording[column])
        if values.ndim != 1:
            raise InputError(f"{name}: column '{column}' has the shape {values.shape}; give one "
                             "number per row")
        if values.dtype.kind in "biuf":  # durations are not numbers
            columns[str(column)] = values.astype(float)
        elif str(column) == time and _is_time(values):
            columns[str(column)] = _seconds(values) / unit
        elif values.dtype.kind in "OU":
            numbers = _parse_numbers(values)
            times = _parse_times(values) if numbers is None and str(column) == time else None
            if numbers is not None:
                columns[str(column)] = numbers
            elif times is not None:
                columns[str(column)] = _seconds(times) / unit
        if str(column) in needed and str(column) not in columns:
            raise InputError(f"{name}: column '{column}' contains "
                             f"{_kind_of(values, str(column) == time)}")
    if not columns:
        raise InputError(f"{name}: no column contains numbers; give columns of floats, with times in "
                         "seconds or in the unit of the rig file")
    return columns


def _with_index(frame: pd.DataFrame, name: str, time: str) -> pd.DataFrame:
    """Returns a DataFrame whose named index has become a column."""
    if frame.columns.duplicated().any():
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"{name}: two columns have the name '{twice}'; rename one")
    if frame.index.name is not None and frame.index.name not in frame.columns:
        return frame.reset_index()
    dated = isinstance(frame.index, (pd.DatetimeIndex, pd.TimedeltaIndex))
    if time and dated and time not in frame.columns:
        raise InputError(f"{name}: no column '{time}', and the index has no name; if it is the time, "
                         f"set frame.index.name = '{time}'")
    return frame


def _plain(column: Any) -> NDArray[Any]:
    """Returns a column as an array, with NaN for missing numbers and UTC for dates with a zone."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.asarray(column.dt.tz_convert(None))
    if isinstance(column, pd.Series) and pd.api.types.is_extension_array_dtype(dtype) \
            and pd.api.types.is_numeric_dtype(dtype):
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    if isinstance(column, np.ma.MaskedArray):
        kind = column.dtype.kind
        numbers: Any = column.astype(float) if kind in "biu" else column
        missing = {"M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}.get(kind, np.nan)
        return np.asarray(numbers.filled(missing) if kind in "biufMm" else column)
    return np.asarray(column)


def _parse_numbers(values: NDArray[Any]) -> Optional[NDArray[np.float64]]:
    """Returns cells as numbers, with NaN for missing readings; None if other texts remain."""
    cells = values.astype(object)  # a copy
    for row, cell in enumerate(cells):
        if isinstance(cell, str) and cell.strip().lower() in _MISSING:
            cells[row] = np.nan
    try:
        return cells.astype(float)
    except (TypeError, ValueError):
        return None


def _parse_times(values: NDArray[Any]) -> Optional[NDArray[Any]]:
    """Converts texts such as "2024-03-05T10:00:00.005Z", "10:00:00.005" or "0 days 00:00:01.315"
    to dates or durations; returns None for other cells.
    """
    def all_match(pattern: re.Pattern[str]) -> bool:
        return len(values) > 0 and all(isinstance(cell, str) and pattern.match(cell.strip())
                                       for cell in values)

    if all_match(_DURATION):
        return np.asarray(pd.to_timedelta([cell.strip() for cell in values]))
    if not all_match(_DATE):
        return None
    for options in ({"format": "ISO8601"}, {}):  # pandas before 2.0 does not have this format
        try:
            dates: Any = pd.to_datetime([cell.strip() for cell in values], utc=True, **options)
            return np.asarray(dates.tz_convert(None))
        except ValueError:
            continue
    return None


def _is_time(values: NDArray[Any]) -> bool:
    if values.dtype.kind in "mM":
        return True
    return values.dtype == object and len(values) > 0 and all(
        isinstance(cell, (datetime, timedelta)) for cell in values)


def _seconds(values: NDArray[Any]) -> NDArray[np.float64]:
    """Returns dates or durations as the time since the first value [s]; NaN: missing."""
    if values.dtype == object:  # of the module datetime
        convert: Any = pd.to_timedelta if isinstance(values[0], timedelta) else pd.to_datetime
        options = {} if convert is pd.to_timedelta or values[0].tzinfo is None else {"utc": True}
        index = convert(values, **options)
        values = np.asarray(index.tz_convert(None) if options else index)
    if len(values) == 0:
        return np.zeros(0)
    differences: NDArray[np.float64] = (values - values[0]) / np.timedelta64(1, "ns") * 1e-9
    return differences


def _kind_of(values: NDArray[Any], is_time: bool) -> str:
    """Describes a column that is not numeric, and how to convert it.

    Args:
        is_time: whether it is the time column, which may also contain dates.
    """
    if is_time:
        advice = "give seconds, or dates (pandas.to_datetime converts texts)"
    else:
        advice = 'give numbers (pandas.to_numeric with errors="coerce" makes NaN of other texts)'
    if values.dtype.kind == "M" or values.dtype == object and _is_time(values) \
            and isinstance(values[0], datetime):
        return ("dates or times; give seconds, for a Series x of pandas "
                "(x - x.iloc[0]).dt.total_seconds()")
    if values.dtype.kind == "m" or values.dtype == object and _is_time(values):
        return "durations; give seconds, for a Series x of pandas x.dt.total_seconds()"
    for row, cell in enumerate(values):
        try:
            float(cell)
        except (TypeError, ValueError):
            if isinstance(cell, (list, tuple, np.ndarray)):
                return "arrays; give numbers (numpy.vstack makes a matrix of the cells)"
            if cell is None or cell is pd.NA or cell is pd.NaT:
                return f"an empty cell in row {row + 1}; give NaN for a missing number"
            if not isinstance(cell, str) or cell.strip().lower() not in _MISSING:
                return f"text, {str(cell)!r} in row {row + 1}; {advice}"
    return "no numbers; give numbers"
