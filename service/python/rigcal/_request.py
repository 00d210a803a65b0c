"""Requests to the estimator, made from Python types."""

from __future__ import annotations

import inspect
import math
import os
from datetime import datetime, timedelta
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np
import pandas as pd

from rigcal import _rigcal
from rigcal._table import RecordingsLike, columns_of, list_recordings, name_of
from rigcal.errors import InputError, format_argument
from rigcal.result import Result
from rigcal.rig import RigLike, as_rig

Names = Union[str, Iterable[str]]
Values = Union[Mapping[str, Optional[float]], "pd.Series[Any]", Names]
ParametersLike = Union[None, str, "os.PathLike[str]", Result, Mapping[str, float],
                       "pd.Series[Any]"]

_KINDS = ("physical", "shadow")
_Function = TypeVar("_Function", bound=Callable[..., Any])


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


def seconds(value: Any, what: str) -> float:
    """Converts a number of seconds or a duration (pandas, NumPy or datetime) to seconds [s]."""
    if isinstance(value, (timedelta, np.timedelta64)):
        return float(pd.Timedelta(value).total_seconds())
    if isinstance(value, (datetime, np.datetime64)):
        raise InputError(f"{what} is a date; give the seconds since the first row, "
                         "(date - first_date).total_seconds()")
    return number(value, what)


def assignments(values: Values, what: str) -> list[str]:
    """Formats parameter values as texts "NAME=VALUE" with all digits, or names as "NAME"."""
    if isinstance(values, pd.Series):
        values = {str(name): value for name, value in values.items()}
    if not isinstance(values, Mapping):
        return list_names(values, what)
    out = []
    for name, value in values.items():
        if value is not None and not math.isfinite(number(value, f"{what}: '{name}'")):
            raise InputError(f"{what}: '{name}' is {value}; give a finite number")
        out.append(name if value is None else f"{name}={float(value)!r}")
    return out


def list_segments(segments: Union[None, int, str, Iterable[int]]) -> list[int]:
    """Returns segment indices as a list, from 0, for e.g. 2, [0, 1] or "0-3,5"; [] for None."""
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


def positive(value: Any, what: str, unit: str = "") -> float:
    taken = seconds(value, what) if unit == " [s]" else number(value, what)
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


def time_window(from_: Any, to: Any) -> tuple[float, float]:
    """Returns the start and end of the samples to use [s]; infinite for None."""
    begin = -math.inf if from_ is None else seconds(from_, "from_")
    end = math.inf if to is None else seconds(to, "to")
    if not begin < end:
        raise InputError("from_ must be less than to")
    return begin, end


def set_parameters(request: Any, parameters: ParametersLike) -> list[str]:
    """Sets the kind of estimate of a request, or its values from a Result or its file.

    Returns a mapping of names to numbers as texts "NAME=VALUE" instead; otherwise [].
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
    elif isinstance(parameters, (Mapping, pd.Series)):
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
            duration = isinstance(value, (timedelta, np.timedelta64))
            request.set_option(name, seconds(value, name) if duration else value)


def make_model_request(rig: RigLike, *, parameters: ParametersLike = None, free: Names = (),
                       fix: Values = (), start: Values = (), hold_out: Names = ()) -> Any:
    """Returns a request with a rig and changes of its parameters, but without recordings."""
    described = as_rig(rig)
    request = _rigcal.Request(described.path, described.text)
    values = set_parameters(request, parameters)
    request.set_edits(values + assignments(start, "start"), list_names(free, "free"),
                      assignments(fix, "fix"), list_names(hold_out, "hold_out"))
    return request


def make_request(recordings: RecordingsLike, rig: RigLike, *,
                 parameters: ParametersLike = None, free: Names = (), fix: Values = (),
                 start: Values = (), hold_out: Names = (), from_: Optional[float] = None,
                 to: Optional[float] = None, segments: Any = None,
                 time_limit: Optional[float] = None, **options: Any) -> Any:
    """Returns the request for a calibration, including recordings in memory."""
    described = as_rig(rig)
    request = make_model_request(described, parameters=parameters, free=free, fix=fix, start=start,
                                 hold_out=hold_out)
    set_options(request, options)
    if time_limit is not None:
        request.set_time_limit(positive(time_limit, "time_limit", " [s]"))
    begin, end = time_window(from_, to)
    used = list_segments(segments)
    taken: set[str] = set()
    for index, recording in enumerate(list_recordings(recordings)):
        name = name_of(recording, index)
        columns = columns_of(recording, name, described)
        if columns and name in taken:
            name = f"{name} ({index + 1})"  # a second table; files have distinct paths
        taken.add(name)
        request.add_recording(name, begin, end, used, columns)
    return request


def accepts_options(function: _Function) -> _Function:
    """Adds the arguments of make_request and all options to a function's signature and help."""
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
