"""Progress of calibrations."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

from rigcal import _rigcal
from rigcal.errors import InputError, format_argument

#: Called with the stage, the iteration, the cost and the gradient's norm. An exception stops the
#: calibration.
Progress = Callable[[str, int, float, float], None]
ProgressLike = Union[None, bool, Progress]


#: Initial time without output, in which short calibrations end [s]; 0 if `progress` is True.
_QUIET_TIME = 2.0


def _is_notebook() -> bool:
    """Returns whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # imported if it runs this process
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class _Printer:
    """Prints progress: as one rewritten line in an interactive session, otherwise as many lines.

    Args:
        quiet_time: duration from the start without output [s].
    """

    def __init__(self, quiet_time: float = 0.0) -> None:
        self._terminal = sys.stderr.isatty()
        self._notebook = not self._terminal and _is_notebook()
        self._begin = time.monotonic() + quiet_time
        self._stage = ""  # last printed stage
        self._width = 0  # width of the last line in a notebook

    @property
    def is_interactive(self) -> bool:
        return self._terminal or self._notebook

    def __call__(self, stage: str, iteration: int, cost: float, gradient: float) -> None:
        if time.monotonic() < self._begin:
            return
        text = _rigcal.format_iteration(stage, iteration, cost, gradient,
                                        self._stage not in ("", stage))
        before, after = ("\r", "\033[K") if self._terminal else ("", "\n")
        if self._notebook:  # notebooks have no code that clears a line
            before, after = "\r", " " * (self._width - len(text))
            self._width = len(text)
        print(before + text, end=after, file=sys.stderr, flush=True)
        self._stage = stage

    def end(self) -> None:
        if self.is_interactive and self._stage:
            print(file=sys.stderr)


@contextmanager
def progress_function(progress: ProgressLike) -> Iterator[Optional[Progress]]:
    """Yields the caller's progress function, or a function that prints.

    Progress is printed if `progress` is True. If it is None, progress is printed only in
    interactive sessions, for calibrations that take longer than two seconds.
    """
    if progress and progress is not True and not callable(progress):
        raise InputError(f"progress is {format_argument(progress)}; give True to print, False for no "
                         "output, or a function of stage, iteration, cost and gradient")
    if callable(progress):
        yield progress
        return
    printer = _Printer(0.0 if progress else _QUIET_TIME)
    if not progress and (progress is not None or not printer.is_interactive):
        yield None
        return
    try:
        yield printer
    finally:
        printer.end()


class JobIterations:
    """Reports each iteration of a job once, although job updates may repeat it."""

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
