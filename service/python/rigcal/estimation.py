"""Calibrations in this process."""

from __future__ import annotations

import json
from typing import Any, Callable, Iterable, Optional, Type, TypeVar, Union

from rigcal import _rigcal
from rigcal._progress import ProgressLike, progress_function
from rigcal._request import (Names, ParametersLike, Values, accepts_options, count, make_request,
                             positive, word)
from rigcal._table import RecordingsLike
from rigcal.errors import InputError
from rigcal.result import (CrossValidation, Examination, Result, ResultBase, Trajectory,
                           Validation)
from rigcal.rig import RigLike

Segments = Union[None, int, str, Iterable[int]]
_Kind = TypeVar("_Kind", bound=ResultBase)


def _run(kind: Type[_Kind], work: Callable[[_rigcal.Monitor], dict[str, Any]],
         progress: ProgressLike, threads: Optional[int]) -> _Kind:
    """Calls `work` and returns a result of class `kind`, made from the data that it returns."""
    with progress_function(progress) as reported:
        found = work(_rigcal.Monitor(reported, count(threads, "threads", 256)))
    document = json.loads(found["text"])
    if "trajectories" in found:
        found["trajectories"] = [Trajectory(**fields) for fields in found["trajectories"]]
    if reason := found.pop("reason", ""):
        document["notes"] = [f"identifiability could not be predicted: {reason}"]
    return kind(document, **found)


@accepts_options
def calibrate(recordings: RecordingsLike, rig: RigLike, *, parameters: ParametersLike = None,
              free: Names = (), fix: Values = (), start: Values = (), hold_out: Names = (),
              from_: Optional[float] = None, to: Optional[float] = None, segments: Segments = None,
              threads: Optional[int] = None, time_limit: Optional[float] = None,
              progress: ProgressLike = None, **options: Any) -> Result:
    """Estimates a rig's free parameters from recordings, like the command `rigcal calibrate`.

    Args:
        recordings: one or several file paths (CSV, MCAP, MAT, HDF5, NumPy, ROS 2 bags),
            DataFrames, or mappings of names to arrays, with the columns that the rig file lists.
            rigcal fits one set of parameters to all recordings.
        rig: path or text of a rig file, or a Rig.
        parameters: kind of estimate, "physical" or "shadow" (docs/method.md), or a source of
            values: a Result, its file, or a mapping of names to numbers.
        free, fix, start: parameters to estimate, to fix ({name: value}; None: at the current
            value), or to start at another initial value.
        hold_out: sensors to hold out; their readings are not used.
        from_, to: use samples from and up to these times [s].
        segments: use only these segments: indices from 0, or "0-3,5".
        threads: number of threads; default: one per processor. Does not affect the result.
        time_limit: longest duration of the calibration [s]; default: no limit.
        progress: True prints on standard error, False prints nothing; default: print on terminals
            and in notebooks after two seconds. A function is called with stage, iteration, cost and
            norm of the gradient.
        **options: options of the method, listed below.

    Raises:
        FaultyInput: if estimates would be meaningless; see its `findings`.
        InputError: for invalid input; the message gives file, line, field and remedy.
        TimeoutError: if the time limit is over.
        KeyboardInterrupt: at Ctrl-C, after the current iteration.
    """
    request = make_request(
        recordings, rig, parameters=parameters, free=free, fix=fix, start=start,
        hold_out=hold_out, from_=from_, to=to, segments=segments, time_limit=time_limit,
        **options)
    return _run(Result, lambda monitor: _rigcal.calibrate(request, monitor), progress, threads)


@accepts_options
def crossvalidate(recordings: RecordingsLike, rig: RigLike, *, by: Optional[str] = None,
                  parts: Optional[int] = None, part_length: Optional[float] = None,
                  threads: Optional[int] = None, progress: ProgressLike = None,
                  **options: Any) -> CrossValidation:
    """Cross-validates: predicts each recording, or each part, with estimates from all others.

    Args:
        by: kind of part that each fold holds out, "recording" or "segment"; default: recording,
            but segment for a single recording.
        parts: cut every segment into this many parts of equal length.
        part_length: cut every segment into parts of this length [s].

    Other arguments and exceptions: see `calibrate`.
    """
    request = make_request(recordings, rig, **options)
    chosen = "" if by is None else word(by, "by", ("recording", "segment"))
    if sum(given is not None for given in (by, parts, part_length)) > 1:
        raise InputError("only one of by, parts and part_length can be given")
    length = 0.0 if part_length is None else positive(part_length, "part_length", " [s]")
    part_count = count(parts, "parts", 1000)
    return _run(CrossValidation, lambda monitor: _rigcal.crossvalidate(
        request, chosen, part_count, length, monitor), progress, threads)


@accepts_options
def validate(recordings: RecordingsLike, rig: RigLike, *, window: Optional[float] = None,
             start_window: Optional[float] = None, threads: Optional[int] = None,
             progress: ProgressLike = None, **options: Any) -> Validation:
    """Evaluates given parameters on recordings. Only initial states are estimated.

    Args:
        parameters: a Result, its file, or numbers by name; default: the rig file's values.
        window: cut every segment into windows of this length, each with its own initial state [s];
            default: whole segments.
        start_window: initial part of a window that determines its initial state; only the rest is
            evaluated [s]; default: the whole window is used for both.

    Other arguments and exceptions: see `calibrate`.
    """
    request = make_request(recordings, rig, **options)
    length = 0.0 if window is None else positive(window, "window", " [s]")
    begun = 0.0 if start_window is None else positive(start_window, "start_window", " [s]")
    return _run(Validation, lambda monitor: _rigcal.validate(request, length, begun, monitor),
                progress, threads)


@accepts_options
def check(recordings: RecordingsLike, rig: RigLike, *, threads: Optional[int] = None,
          progress: ProgressLike = None, **options: Any) -> Examination:
    """Checks recordings and a rig file before a calibration, like the command `rigcal check`.

    Arguments and exceptions: see `calibrate`; findings are returned, not raised.
    """
    request = make_request(recordings, rig, **options)
    return _run(Examination, lambda monitor: _rigcal.check(request, monitor), progress, threads)
