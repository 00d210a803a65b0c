"""Output during a calibration."""

import asyncio
import io
import os
import pty
import re
import subprocess
import sys
from types import SimpleNamespace

import rigcal
from conftest import RIG
from rigcal import _progress
from rigcal._progress import JobIterations, progress_function

SCRIPT = """
import sys, rigcal
rigcal.calibrate(sys.argv[1], sys.argv[2], progress=True)
"""
LINE = re.compile(r"[^:]+: iteration \d+  cost \S+  gradient \S+(  \(new cost function: .*\))?")


def calibrate(csv, **streams):
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(csv), str(RIG)], **streams)


# Terminal control codes must not appear in a file or log.
def test_pipes_get_plain_lines(csv):
    reported = calibrate(csv, stderr=subprocess.PIPE, text=True).communicate()[1]
    lines = reported.splitlines()
    assert len(lines) > 3 and "\r" not in reported and "\033" not in reported
    for line in lines:
        assert LINE.fullmatch(line), line
    assert not re.search(r"e[+-]?0\d|e[+]", reported), reported  # one number format


def test_terminals_get_one_line_that_changes(csv):
    main, other = pty.openpty()
    child = calibrate(csv, stderr=other)
    os.close(other)
    text = b""
    try:
        while part := os.read(main, 65536):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(main)
    assert child.wait(timeout=60) == 0
    assert text.startswith(b"\r") and text.endswith(b"\033[K\r\n") and text.count(b"\n") == 1
    for line in text.decode().split("\r")[1:-1]:
        assert LINE.fullmatch(line.removesuffix("\033[K")), line


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def output(monkeypatch, progress, *, terminal, notebook=False, seconds=9.0):
    """Returns what a calibration of some duration prints on standard error."""
    stream, times = Stream(terminal), iter([0.0, 0.0, seconds])
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "_is_notebook", lambda: notebook)
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: next(times)))
    with progress_function(progress) as report:
        for iteration in range(2):
            if report:
                report("joint", iteration, 9.0, 1.0)
    return stream.getvalue()


# Calibrations of minutes are not silent in an interactive session, unless the caller asks for it.
# Scripts, and calibrations of a second, print nothing.
def test_interactive_sessions_print_long_calibrations(monkeypatch):
    for notebook in (False, True):
        for terminal in (False, True):
            shown = output(monkeypatch, None, terminal=terminal, notebook=notebook)
            assert ("iteration 1" in shown) == (terminal or notebook)
            assert "iteration 0" not in shown, "printed before it takes long"
            assert not output(monkeypatch, None, terminal=terminal, notebook=notebook, seconds=1.0)
            assert not output(monkeypatch, False, terminal=terminal, notebook=notebook)
            assert "iteration 0" in output(monkeypatch, True, terminal=terminal, notebook=notebook)


def test_notebooks_get_one_line_without_control_codes(monkeypatch):
    shown = output(monkeypatch, True, terminal=False, notebook=True)
    assert shown.count("\r") == 2 and shown.count("\n") == 1 and "\033" not in shown


# Another stage solves another problem, so a higher cost is no setback. Only its first line says
# so.
def test_incomparable_costs_are_marked(capfd):
    with progress_function(True) as report:
        for stage, iteration in [("joint", 0), ("joint", 1), ("simulation", 0), ("simulation", 1)]:
            report(stage, iteration, 9.0, 1.0)
    lines = capfd.readouterr().err.splitlines()
    assert ["new cost function: not comparable with the costs above" in line
            for line in lines] == [False, False, True, False]


# A job also sends progress before its first stage, at its end, with other news, and at the start
# of a stage without an iteration. None of these is an iteration.
def test_iterations_of_a_job_are_reported_once():
    reported = []
    steps = JobIterations(lambda *step: reported.append(step))
    for stage, *numbers in [("", 0, 0.0, 0.0), ("joint", 0, 0.0, 0.0), ("joint", 0, 9.0, 1.0),
                            ("joint", 0, 9.0, 1.0), ("joint", 1, 4.0, 0.1),
                            ("simulation", 1, 4.0, 0.1), ("simulation", 0, 7.0, 2.0),
                            ("", 3, 5.0, 0.0)]:
        progress = SimpleNamespace(stage=stage, iteration=numbers[0], cost=numbers[1],
                                   gradient_norm=numbers[2])
        steps(SimpleNamespace(progress=progress))
    assert reported == [("joint", 0, 9.0, 1.0), ("joint", 1, 4.0, 0.1), ("simulation", 0, 7.0, 2.0)]
    JobIterations(None)(SimpleNamespace(progress=progress))


def test_jobs_print_progress_like_local_calibrations(service, csv, capfd):
    with rigcal.Client(service) as client:
        client.calibrate(csv, RIG, progress=True, job_id="shown")

    async def run():
        async with rigcal.AsyncClient(service) as other:
            await other.calibrate(csv, RIG, progress=True, job_id="shown-async")

    asyncio.run(run())
    lines = capfd.readouterr().err.splitlines()
    assert lines and all(LINE.fullmatch(line) for line in lines), lines
