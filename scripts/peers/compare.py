"""Solves the problems of problems.py with rigcal, CasADi and MuJoCo, sequentially.

Writes a table in Markdown and, beside the recordings, each program's output as JSON.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

import numpy as np

import problems
from result import Stopwatch

HERE = Path(__file__).resolve().parent
CONFIGS = HERE.parent.parent / "configs"
SEED = 20261122
ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
}
PEERS = {
    "CasADi, Gauss–Newton loop, compiled": ("casadi_fit.py", "--solver", "loop", "--jit"),
    "CasADi, Gauss–Newton loop": ("casadi_fit.py", "--solver", "loop"),
    "CasADi, IPOPT, Gauss–Newton Hessian, compiled": (
        "casadi_fit.py",
        "--solver",
        "gauss-newton",
        "--jit",
    ),
    "CasADi, IPOPT, exact Hessian, compiled": ("casadi_fit.py", "--solver", "exact", "--jit"),
    "MuJoCo sysid": ("mujoco_fit.py",),
}
TIMES = ("set-up, proc. s", "solve, proc. s", "solve, wall s")
COLUMNS = ("program", *TIMES, "iterations", "worst error", "in sd", "RMSE, mrad")


class Failed(Exception):
    """A program failed; contains the reason."""


def run(command, seconds, folder):
    """Runs a program on one thread, with `folder` for its files. Returns its output."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=seconds,
            cwd=folder,
            env={**os.environ, **ONE_THREAD},
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"not within {seconds:g} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise Failed(f"failed: {lines[-1]}")
    return done.stdout


def run_rigcal(program, problem, recording, seconds, folder):
    """Runs rigcal with its defaults, from start to exit. Also returns its standard deviations."""
    out = folder / "rigcal.json"
    command = [program, "calibrate", recording, "--rig", CONFIGS / problem.rig]
    for name, value in problem.fixed.items():
        command += ["--fix", f"{name}={value}"]
    stopwatch = Stopwatch()
    run([*command, "--threads", "1", "--quiet", "--json", out], seconds, folder)
    solve = stopwatch.lap()
    reported = json.loads(out.read_text())
    by_name = {p["name"]: p for p in reported["parameters"]}
    squares = [joint["rmseRad"] ** 2 for joint in reported["simulation"]]
    names = [p.name for p in problem.parameters]
    return {
        "setup_s": (0.0, 0.0),
        "solve_s": solve,
        "iterations": reported["iterations"] + reported["refinementIterations"],
        "converged": reported["converged"],
        "rmse_rad": float(np.sqrt(np.mean(squares))),
        "parameters": [by_name[name]["value"] for name in names],
    }, np.array([by_name[name]["standardDeviation"] for name in names])


def row(program, result, problem, deviations):
    """Formats a row of the table."""
    truth = np.array([p.truth for p in problem.parameters])
    errors = np.array(result["parameters"]) - truth
    relative, in_deviations = np.abs(errors / truth), np.abs(errors) / deviations
    name = problem.parameters[int(relative.argmax())].name
    cells = [
        program,
        f"{result['setup_s'][1]:.2f}",
        f"{result['solve_s'][1]:.2f}",
        f"{result['solve_s'][0]:.2f}",
        f"{result['iterations']}" + ("" if result["converged"] else ", not converged"),
        f"{100 * relative.max():.2g} % ({name})",
        f"{in_deviations.max():.2g}",
        f"{1e3 * result['rmse_rad']:.3f}",
    ]
    return "| " + " | ".join(cells) + " |"


def compare(problem, arguments, write):
    """Records a problem, solves it with each program, and writes its table."""
    folder = arguments.out / problem.name.replace(", ", "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    recording = folder / "recording.csv"
    problems.record(problem, recording, SEED)
    rate = 1 / problems.SAMPLE_S
    write(f"\n**{problem.name}**: {problem.seconds:g} s at {rate:g} Hz, ")
    write(f"{len(problem.parameters)} free parameters; load {os.getloadavg()[0]:.1f}\n\n")
    write("| " + " | ".join(COLUMNS) + " |\n|---|" + "---:|" * (len(COLUMNS) - 1) + "\n")
    result, deviations = run_rigcal(
        arguments.rigcal, problem, recording, arguments.timeout, folder
    )
    write(row("rigcal", result, problem, deviations) + "\n")
    for name, (script, *options) in PEERS.items():
        if arguments.only and not any(word in name for word in arguments.only):
            continue
        command = [sys.executable, HERE / script, problem.name, recording, *options]
        try:
            output = run(command, arguments.timeout, folder)
            (folder / f"{name}.json").write_text(output)
            write(row(name, json.loads(output), problem, deviations) + "\n")
        except Failed as reason:
            write(f"| {name} | {reason} |" + " |" * (len(COLUMNS) - 2) + "\n")


def versions(rigcal):
    """Versions of all programs involved."""
    names = ("casadi", "mujoco", "numpy", "scipy")
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
    return ", ".join(
        [
            run([rigcal, "--version"], 60, None).strip(),
            *(f"{name} {version(name)}" for name in names),
            f"Python {platform.python_version()}",
            compiler.splitlines()[0],
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rigcal", type=Path, required=True, help="the program build/bin/rigcal")
    parser.add_argument("--out", type=Path, required=True, help="folder of recordings and results")
    parser.add_argument("--timeout", type=float, default=900, help="most time of a program [s]")
    parser.add_argument("--only", nargs="*", help="peers whose name holds one of these words")
    parser.add_argument("--problem", nargs="*", choices=problems.PROBLEMS, metavar="NAME")
    arguments = parser.parse_args()
    arguments.out, arguments.rigcal = arguments.out.resolve(), arguments.rigcal.resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)

    with open(arguments.out / "table.md", "w") as table:

        def write(text):
            for stream in (sys.stdout, table):
                stream.write(text)
                stream.flush()

        write(f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC. {versions(arguments.rigcal)}\n")
        for name in arguments.problem or problems.PROBLEMS:
            compare(problems.PROBLEMS[name], arguments, write)


if __name__ == "__main__":
    try:
        main()
    except Failed as reason:
        sys.exit(f"compare_peers: rigcal: {reason}")
