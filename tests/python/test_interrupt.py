"""Ctrl-C ends only the calibration."""

import signal
import subprocess
import sys

import pytest
import rigcal
from conftest import RIG

SCRIPT = """
import sys, rigcal
def report(*record):
    if record[1] == 1:
        print("under way", flush=True)
        sys.stdin.readline()  # the signal comes while Python waits, or works
try:
    rigcal.calibrate(sys.argv[1], sys.argv[2], progress=report)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", flush=True)
result = rigcal.calibrate(sys.argv[1], sys.argv[2])
print("converged", result.converged)
"""

QUIET = """
import os, signal, sys, threading, rigcal
recordings = [sys.argv[1]] + [rigcal.load_recording(sys.argv[1], sys.argv[2])
    .to_frame().rename(columns={"time": "t_s", "pivot": "theta1_rad"}) for _ in range(40)]
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    rigcal.calibrate(recordings, sys.argv[2])
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
print("converged", rigcal.calibrate(sys.argv[1], sys.argv[2]).converged)
"""


def test_ctrl_c_raises_and_leaves_the_interpreter_usable(csv):
    child = subprocess.Popen([sys.executable, "-c", SCRIPT, str(csv), str(RIG)], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == "under way\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate("\n", timeout=120)
    assert child.returncode == 0, err
    assert out.split("\n")[:2] == ["interrupted", "converged True"]


# Without a callback the monitor itself must check for signals during the calibration, which takes
# seconds on any machine with so many recordings.
def test_ctrl_c_stops_a_calibration_without_a_callback(csv):
    done = subprocess.run([sys.executable, "-c", QUIET, str(csv), str(RIG)], text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["interrupted", "converged True"]


# The limit is over at the first iteration, which leaves nothing behind.
def test_time_limit_raises(csv):
    with pytest.raises(TimeoutError, match="time limit of 0.001 s is over.*raise time_limit"):
        rigcal.calibrate([csv], RIG, step=1e-2, time_limit=1e-3)
    with pytest.raises(rigcal.InputError, match="time_limit is 0"):
        rigcal.calibrate(csv, RIG, time_limit=0)
    assert rigcal.calibrate(csv, RIG, time_limit=1000).converged
