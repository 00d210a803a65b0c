"""Compares exported models of the Furuta pendulum with rigcal's simulation (compare_models.sh)."""

import argparse
import csv
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from fmpy import simulate_fmu
from fmpy.validation import validate_fmu

RIG = Path(__file__).resolve().parents[2] / "configs" / "rig-furuta.textproto"
SCENARIOS = {
    "release": 'duration_s: 10 release { } initial { joint: "2" angle_rad: 1.5 }',
    "chirp": 'duration_s: 3 chirp { motor: "1" amplitude: 2 frequency_start_hz: 0.5 '
             'frequency_end_hz: 3 }',
}
ANGLE_LIMIT = 1e-6  # rad; both integrate to fourth order in steps of 1 ms
FORCE_LIMIT = 1e-3  # of the largest acceleration: central differences over 2 ms


def simulated(rigcal, folder, name):
    """Returns time, angles and command of a run of rigcal, one row per sample."""
    scenario, out = folder / f"{name}.textproto", folder / f"{name}.csv"
    scenario.write_text(SCENARIOS[name])
    subprocess.run([rigcal, "simulate", "--rig", RIG, "--scenario", scenario, "--out", out,
                    "--step", "1e-3", "--integrator", "physical"], check=True, capture_output=True)
    with open(out, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = ("t_s", "theta1_rad", "theta2_rad", "u_V")
    return np.array([[float(row[column]) for column in columns] for row in rows])


def fmu_difference(fmu, run):
    """Returns the largest difference of angles between an FMU and a run [rad]."""
    command = np.array(list(zip(run[:, 0], run[:, 3])),
                       dtype=[("time", float), ("1.command", float)])
    motion = simulate_fmu(str(fmu), stop_time=run[-1, 0], output_interval=1e-3, input=command,
                          start_values={"1.angle": run[0, 1], "2.angle": run[0, 2]},
                          output=["1.angle", "2.angle"])
    angles = np.column_stack([motion["1.angle"], motion["2.angle"]])
    return np.abs(angles - run[:len(angles), 1:3]).max()


def casadi_difference(module, run):
    """Returns the largest relative difference of accelerations between CasADi and a run."""
    spec = importlib.util.spec_from_file_location("exported", module)
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    dynamics = exported.dynamics(friction_speed=1e-6)
    angles, step = run[:, 1:3], run[1, 0] - run[0, 0]
    speeds = (angles[2:] - angles[:-2]) / (2 * step)
    accelerations = (angles[2:] - 2 * angles[1:-1] + angles[:-2]) / step**2
    values, size = list(exported.PARAMETERS.values()), np.abs(accelerations).max()
    moves = np.flatnonzero((np.abs(speeds) > 0.1).all(axis=1))[::50]  # away from stops
    model = [np.array(dynamics(angles[k + 1], speeds[k], run[k + 1, 3], values)).ravel()
             for k in moves]
    return np.abs(np.array(model) - accelerations[moves]).max() / size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rigcal", required=True)
    rigcal = parser.parse_args().rigcal
    wrong = 0

    def report(what, value, limit):
        nonlocal wrong
        wrong += not value <= limit
        print(f"{what:50} {value:.1e}  {'at most' if value <= limit else 'ABOVE'} {limit:.0e}")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fmu, module, compiled = (folder / file for file in ("furuta.fmu", "model.py", "own.fmu"))
        subprocess.run([rigcal, "export", RIG, "--out", fmu, "--out", module], check=True)
        problems = validate_fmu(str(fmu))
        print("\n".join(problems) or "FMPy finds no problem in the FMU")
        wrong += bool(problems)
        shutil.copy(fmu, compiled)
        subprocess.run([sys.executable, "-m", "fmpy", "compile", compiled], check=True,
                       capture_output=True)
        for scenario in SCENARIOS:
            run = simulated(rigcal, folder, scenario)
            report(f"{scenario}: angles of the FMU [rad]", fmu_difference(fmu, run), ANGLE_LIMIT)
            report(f"{scenario}: FMU compiled by FMPy [rad]", fmu_difference(compiled, run),
                   ANGLE_LIMIT)
        report("release: accelerations of CasADi [relative]",
               casadi_difference(module, simulated(rigcal, folder, "release")), FORCE_LIMIT)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
