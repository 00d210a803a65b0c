"""Fixtures of the Python package's tests; RIGCAL_PROGRAMS is the folder of the programs."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

import rigcal

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("RIGCAL_PROGRAMS", ROOT / "build" / "bin"))
RIG = ROOT / "configs" / "rig-pendulum.textproto"
SCENARIO = ROOT / "configs" / "scenario-pendulum-release.textproto"

# True values of the simulated pendulum; estimates start at the rig file's values.
TRUTH = {"pendulum.J_zz": 0.0043, "pivot.b": 3e-4, "pivot.tau_c": 2e-3, "pivot.offset": 0.02}
SWING = """
name: "swing" duration_s: 6 rate_hz: 500
initial { joint: "pivot" angle_rad: 2.0 }
release { joint: "pivot" held_angle_rad: 2.0 held_tolerance_rad: 0.1 }
noise { angle_standard_deviation_rad: 1e-3 seed: 1 }
"""
# A pendulum with an inertial sensor beside its encoder.
SENSED = """
body { name: "A" mass { value: 0.5 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.004 free: true } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 0.002 free: true } } encoder { } }
inertial_sensor { name: "imu1" body: "A" gyroscope { } }
recording { time { column: "t" } angle { joint: "1" column: "x" unit: RADIAN }
  inertial { sensor: "imu1" axis: GYRO_Z column: "gz" unit: RADIAN_PER_SECOND } }
"""


@pytest.fixture(scope="session")
def sensed():
    """Four seconds of that pendulum."""
    return rigcal.simulate(SENSED, """duration_s: 4 release { }
        initial { joint: "1" angle_rad: 1.2 }
        noise { angle_standard_deviation_rad: 1e-3
                gyroscope_standard_deviation_rad_per_s: 2e-2 seed: 1 }""")


@pytest.fixture(scope="session")
def frame():
    """Six seconds of a simulated pendulum, with the columns of its rig file."""
    return rigcal.simulate(RIG, SWING, start=TRUTH)


@pytest.fixture(scope="session")
def csv(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings") / "run.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def result(csv):
    return rigcal.calibrate(csv, RIG)


def rigcal_program(*arguments, expected=0):
    done = subprocess.run([str(PROGRAMS / "rigcal"), *map(str, arguments)], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == expected, done.stderr
    return done


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Address of a service started for the tests."""
    folder = tmp_path_factory.mktemp("service")
    with open(folder / "log", "w", encoding="utf-8") as log:
        daemon = subprocess.Popen(
            [str(PROGRAMS / "rigcald"), "--data", str(folder / "data"), "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=log, text=True)
        line = daemon.stdout.readline() or (folder / "log").read_text()
        address = "127.0.0.1:" + line.split("127.0.0.1:")[1].split()[0].strip(".,")
        yield address
        daemon.send_signal(signal.SIGTERM)
        daemon.communicate(timeout=30)
