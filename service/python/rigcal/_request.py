"""Requests to the estimator, made from Python types."""

from __future__ import annotations

import inspect
import math
import os
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rigcal import _rigcal
from rigcal.errors import InputError, format_argument
from rigcal.result import Result
from rigcal.rig import RigLike, as_rig

#: A recording: a file, a table with the columns that the rig file names, or columns by name.
RecordingLike = Union[str, "os.PathLike[str]", pd.DataFrame, Mapping[str, Any]]
RecordingsLike = Union[RecordingLike, Sequence[RecordingLike]]
Names = Union[str, Iterable[str]]
Values = Union[Mapping[str, Optional[float]], Names]
ParametersLike = Union[None, str, "os.PathLike[str]", Result, Mapping[str, float]]

_KINDS = ("physical", "shadow")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def list_recordings(recordings: RecordingsLike) -> list[RecordingLike]:
    """Returns recordings as a list; raises InputError if a recording is given twice."""
    if isinstance(recordings, (str, os.PathLike, pd.DataFrame, Mapping)):
        recordings = [recordings]
    listed = list(recordings)
    if not listed:
        raise InputError("no recording was given; give a file or a table")
    for index, recording in enumerate(listed):
        if not isinstance(recording, (str, os.PathLike, pd.DataFrame, Mapping)):
            raise InputError(f"recording {index + 1} is a {type(recording).__name__}; give a path, "
                             "a DataFrame, or arrays by the names of their columns")
        tables = isinstance(recording, (pd.DataFrame, Mapping))
        if tables and any(recording is other for other in listed[:index]):
            raise InputError(f"recording {index + 1} is given twice; its samples would count double")
    return listed


def name_of(recording: RecordingLike, index: int) -> str:
    """Returns a recording's name for messages: its path, a table's attrs["name"], or its number."""
    if isinstance(recording, (str, os.PathLike)):
        return os.fspath(recording)
    name = recording.attrs.get("name") if isinstance(recording, pd.DataFrame) else None
    return str(name) if name else f"recording {index + 1}"


def columns_of(recording: RecordingLike, name: str,
               needed: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Returns the needed columns of a table as numbers; {} for a file. A named index is a column.

    Columns that the rig file does not use may contain text or dates.
    """
    if isinstance(recording, (str, os.PathLike)):
        return {}
    if isinstance(recording, pd.DataFrame):
        if recording.columns.duplicated().any():
            twice = recording.columns[recording.columns.duplicated()][0]
            raise InputError(f"{name}: two columns have the name '{twice}'; rename one")
        if recording.index.name is not None and recording.index.name not in recording.columns:
            recording = recording.reset_index()
    columns = {}
    for column in recording:
        values = np.asarray(recording[column])
        if values.ndim != 1:
            raise InputError(f"{name}: column '{column}' has the shape {values.shape}; give one "
                             "number per row")
        if np.issubdtype(values.dtype, np.number) or values.dtype == bool:
            columns[str(column)] = values.astype(float)
        elif values.dtype == object:
            try:
                columns[str(column)] = values.astype(float)
            except (TypeError, ValueError):
                pass
        if str(column) in needed and str(column) not in columns:
            raise InputError(f"{name}: column '{column}' contains {_kind_of(values)}; give numbers "
                             "(pandas.to_numeric converts texts)")
    if not columns:
        raise InputError(f"{name}: no column contains numbers; give columns of floats, with times in "
                         "seconds or in the unit of the rig file")
    return columns


def _kind_of(values: NDArray[Any]) -> str:
    """Describes a column that is not numeric by its type or by its first invalid cell."""
    if np.issubdtype(values.dtype, np.datetime64) or np.issubdtype(values.dtype, np.timedelta64):
        return "dates or times"
    for row, cell in enumerate(values):
        try:
            float(cell)
        except (TypeError, ValueError):
            if isinstance(cell, (list, tuple, np.ndarray)):
                return "arrays, which numpy.vstack makes a matrix of"
            return f"text, {str(cell)!r} in row {row + 1}"
    return "no numbers"


def list_names(names: Names, what: str) -> list[str]:
    if not isinstance(names, Iterable):
        raise InputError(f"{what} is {format_argument(names)}; give a name, or a list of names")
    return [names] if isinstance(names, str) else [str(name) for name in names]


def number(value: Any, what: str) -> float:
    """Converts a value to float, including infinity and NaN; raises InputError otherwise."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what} is {format_argument(value)}; give a number") from None


def assignments(values: Values, what: str) -> list[str]:
    """Formats parameter values as texts "NAME=VALUE" with all digits, or names as "NAME"."""
    if not isinstance(values, Mapping):
        return list_names(values, what)
    out = []
    for name, value in values.items():
        if value is not None and not math.isfinite(number(value, f"{what}: '{name}'")):
            raise InputError(f"{what}: '{name}' is {value}; give a finite number")
        out.append(name if value is None else f"{name}={float(value)!r}")
    return out


def list_segments(segments: Union[None, int, str, Iterable[int]]) -> list[int]:
    """Returns the list of segment indices, from 0, for e.g. 2, [0, 1] or "0-3,5"; [] for None."""
    if segments is None:
        return []
    if isinstance(segments, str):
        return list(_rigcal.parse_segments(segments))
    listed: list[Any] = list(segments) if isinstance(segments, Iterable) else [segments]
    whole = all(isinstance(index, (int, float, np.number)) and float(index).is_integer()
                and index >= 0 for index in listed)
    if not listed or not whole:
        raise InputError(f"segments: {segments!r} are not indices; give integers from 0")
    return [int(index) for index in listed]


def positive(value: float, what: str, unit: str = "") -> float:
    taken = number(value, what)
    if not (math.isfinite(taken) and taken > 0.0):
        raise InputError(f"{what} is {value}; give a number > 0{unit}")
    return taken


def count(value: Optional[int], what: str, most: int) -> int:
    """Checks that a value is a whole number from 1 to `most` and returns it; returns 0 for None."""
    if value is None:
        return 0
    taken = number(value, what)
    if not 1 <= taken <= most or taken % 1 != 0:
        raise InputError(f"{what} is {value}; give a whole number from 1 to {most}")
    return int(value)


def word(value: str, what: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise InputError(f"{what}: '{value}' is not {' or '.join(choices)}")
    return value


def set_parameters(request: Any, parameters: ParametersLike) -> list[str]:
    """Sets a request's kind of estimate, or its values from a Result or its file.

    Returns the texts "NAME=VALUE" of a mapping.
    """
    if parameters is None:
        return []
    if isinstance(parameters, str) and parameters in _KINDS:
        request.set_option("parameters", parameters)
    elif isinstance(parameters, Result):
        options = parameters.options
        shadow = options.get("parameters") == "shadow"
        request.set_values("the result", parameters._values(), str(options.get("parameters", "")),
                           float(options["stepS"]) if shadow else 0.0,
                           float(options["stateErrorWeight"]) if shadow else 0.0)
    elif isinstance(parameters, Mapping):
        return assignments(parameters, "parameters")
    elif not isinstance(parameters, (str, os.PathLike)):
        raise InputError(f"parameters is {format_argument(parameters)}; give physical or shadow, a Result, "
                         "a result file, or numbers by name")
    else:
        path = os.fspath(parameters)
        if not path.endswith(".json") and not os.path.exists(path):
            raise InputError(f"parameters: '{path}' is neither physical, shadow, nor a result "
                             "file")
        request.read_values(path)
    return []


def set_options(request: Any, options: Mapping[str, Any]) -> None:
    """Sets the options of a request; None keeps the default."""
    for name, value in options.items():
        if value is not None:
            request.set_option(name, value)


def make_request(recordings: Optional[RecordingsLike], rig: RigLike, *,
                 parameters: ParametersLike = None, free: Names = (), fix: Values = (),
                 start: Values = (), hold_out: Names = (), from_: Optional[float] = None,
                 to: Optional[float] = None, segments: Any = None, **options: Any) -> Any:
    """Returns the request for a calibration, including recordings in memory."""
    described = as_rig(rig)
    request = _rigcal.Request(described.path, described.text)
    values = set_parameters(request, parameters)
    request.set_edits(values + assignments(start, "start"), list_names(free, "free"),
                      assignments(fix, "fix"), list_names(hold_out, "hold_out"))
    set_options(request, options)
    begin = -math.inf if from_ is None else number(from_, "from_")
    end = math.inf if to is None else number(to, "to")
    if not begin < end:
        raise InputError("from_ must be less than to")
    used = list_segments(segments)
    taken: set[str] = set()
    for index, recording in enumerate([] if recordings is None else list_recordings(recordings)):
        name = name_of(recording, index)
        columns = columns_of(recording, name, described.columns)
        if columns and name in taken:
            name = f"{name} ({index + 1})"  # a second table; files have distinct paths
        taken.add(name)
        request.add_recording(name, begin, end, used, columns)
    return request


def accepts_options(function: _Function) -> _Function:
    """Lists the arguments of make_request and all options in a function's signature and help."""
    table = _rigcal.option_table()
    sources: tuple[Callable[..., Any], ...] = (function, make_request)
    named = {name: each for source in sources
             for name, each in inspect.signature(source).parameters.items() if name != "options"}
    for name, _, _ in table:
        named[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
    signature = inspect.signature(function).replace(parameters=list(named.values()))
    setattr(function, "__signature__", signature)
    function.__doc__ = (function.__doc__ or "") + "\n    Options:\n" + "".join(
        f"        {name}: {meaning}. Give {values}.\n" for name, values, meaning in table)
    return function
