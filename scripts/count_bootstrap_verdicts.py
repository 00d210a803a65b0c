#!/usr/bin/env python3
"""Counts the verdicts of "rigcal bootstrap" on short recordings with a right or a wrong model.

Simulates swings of pendulums (configs/rig-pendulum.textproto) with random parameters. The right
models are calibrated from one recording, or from two of the same pendulum. The wrong models omit
dry friction, fix a wrong encoder offset, or take two recordings of pendulums whose inertias differ
by 10 %. Prints one line per bootstrap, the figures of each parameter, and the counts.

    scripts/count_bootstrap_verdicts.py --right 40 --wrong 10 [--seed 1] [--draws 20] [--duration 4]
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import tempfile

RIG = pathlib.Path(__file__).resolve().parent.parent / "configs/rig-pendulum.textproto"


def run(*arguments):
    return subprocess.run([str(each) for each in arguments], capture_output=True, text=True)


def simulate(options, folder, name, seed, angle, truth):
    scenario, csv = folder / f"{name}.textproto", folder / f"{name}.csv"
    scenario.write_text(
        f'name: "swing" rate_hz: 50 duration_s: {options.duration} '
        f'initial {{ joint: "pivot" angle_rad: {angle:.4f} }} release {{ joint: "pivot" '
        f"held_angle_rad: {angle:.4f} held_tolerance_rad: 0.6 }} "
        f"noise {{ angle_standard_deviation_rad: 1e-3 seed: {seed} }}")
    starts = [part for each in truth.items() for part in ("--start", "%s=%r" % each)]
    done = run(options.rigcal, "simulate", "--rig", RIG, "--scenario", scenario, "--out", csv,
               "--step", "1e-3", *starts)
    if done.returncode != 0:
        raise SystemExit(f"seed {seed}: {done.stderr}")
    return csv


def make_recordings(options, folder, seed, is_right):
    """Returns the recordings, and options that make the model wrong."""
    draw = random.Random(seed)
    truth = {"pendulum.J_zz": draw.uniform(0.003, 0.006), "pivot.b": draw.uniform(1e-4, 5e-4),
             "pivot.tau_c": draw.uniform(2e-4, 2e-3)}
    kind = 1 + seed % 3 if not is_right else 0
    two = kind == 3 or (is_right and seed % 2 == 1)
    files = []
    for k in range(2 if two else 1):
        own = dict(truth)
        if kind == 1:
            own["pivot.tau_c"] = draw.uniform(4e-3, 8e-3)
        if kind == 3 and k == 1:
            own["pendulum.J_zz"] *= 1.1
        files.append(simulate(options, folder, f"r{k}", 10 * seed + k, draw.uniform(1.0, 2.2), own))
    fixed = {0: [], 1: ["--fix", "pivot.tau_c=0"], 2: ["--fix", "pivot.offset=0.02"], 3: []}[kind]
    return files, fixed, {0: "right", 1: "dry", 2: "offset", 3: "changed"}[kind]


def describe(result):
    return ", ".join(
        f"{each['reported']['name']}: {100 * each.get('coverage', 0):.0f} %, "
        f"ratio {float(each.get('blockRatio', 0)):.2f} of {result.get('blocks', 0)} blocks"
        for each in result["parameters"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--right", type=int, default=40, help="bootstraps of right models")
    parser.add_argument("--wrong", type=int, default=10, help="bootstraps of wrong models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--duration", type=float, default=4.0, help="of each recording [s]")
    parser.add_argument("--rigcal", default="build/bin/rigcal")
    options = parser.parse_args()
    counts = collections.Counter()
    for k in range(options.right + options.wrong):
        is_right = k < options.right
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            files, fixed, kind = make_recordings(options, folder, options.seed + k, is_right)
            done = run(options.rigcal, "bootstrap", *files, "--rig", RIG, "--quiet", "--draws",
                       options.draws, "--threads", 1, "--json", folder / "b.json", *fixed)
            answer = {0: "hold", 2: "not shown to hold"}.get(done.returncode, "failed")
            counts[kind if is_right else "wrong", answer] += 1
            sentence = (done.stdout or done.stderr).split("\n")[0]
            print(f"seed {options.seed + k}, {kind}: {sentence}", flush=True)
            if (folder / "b.json").exists():
                print("   ", describe(json.loads((folder / "b.json").read_text())), flush=True)
    for (kind, answer), count in sorted(counts.items()):
        print(f"{kind} models: {count} {answer}")


if __name__ == "__main__":
    main()
