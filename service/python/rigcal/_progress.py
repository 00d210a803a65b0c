"""Progress of calibrations."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

from rigcal import _rigcal
from rigcal.errors import InputError, format_argument

#: Called with the stage, the iteration, the cost and the gradient's norm. An exception stops the
#: calibration.
Progress = Callable[[str, int, float, float], None]
ProgressLike = Union[None, bool, Progress]


class _Printer:
    """Printer of progress: a line that is rewritten on a terminal, else a line per iteration."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._stage = ""  # last printed stage

    def __call__(self, stage: str, iteration: int, cost: float, gradient: float) -> None:
        text = _rigcal.format_iteration(stage, iteration, cost, gradient,
                                        self._stage not in ("", stage))
        before, after = ("\r", "\033[K") if self._terminal else ("", "\n")
        print(before + text, end=after, file=sys.stderr, flush=True)
        self._stage = stage

    def end(self) -> None:
        if self._terminal and self._stage:
            print(file=sys.stderr)


@contextmanager
def progress_function(progress: ProgressLike) -> Iterator[Optional[Progress]]:
    """Yields the caller's progress function, or a function that prints if `progress` is True."""
    if progress and progress is not True and not callable(progress):
        raise InputError(f"progress is {format_argument(progress)}; give True to print, or a function of "
                         "stage, iteration, cost and gradient")
    if progress is not True:
        yield progress or None
        return
    printer = _Printer()
    try:
        yield printer
    finally:
        printer.end()


class JobIterations:
    """Filter that reports each iteration of a job once, although job updates can repeat it."""

    def __init__(self, report: Optional[Progress]) -> None:
        self._report = report
        self._last = (0, 0.0, 0.0)  # before the first

    def __call__(self, job_info: Any) -> None:
        at = job_info.progress
        step = (at.iteration, at.cost, at.gradient_norm)
        if self._report is None or not at.stage or step == self._last:
            return
        self._last = step
        self._report(at.stage, *step)
