#!/usr/bin/env python3
"""Counts the verdicts of calibrations with a correct model, on recordings that end in rest.

Simulates Furuta pendulums (configs/rig-furuta.textproto) with random parameters and quantized
encoders: a release, a pulse and a swing-up by alternating pulses, each until the rig rests. Then
calibrates each recording alone, and all three jointly. At most 2 % of the verdicts may be
"doubtful", "rejected" or "no-fit". Prints one line per calibration and the counts.

    scripts/count_verdicts_at_rest.py --runs 50 [--seed 1] [--rigcal build/bin/rigcal] [--rate 500]
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import tempfile

RIG = pathlib.Path(__file__).resolve().parent.parent / "configs/rig-furuta.textproto"
CENTRES = {"A.J_zz": 0.0111, "B.J_yy": 0.004, "B.J_zz": 0.004, "1.b": 1e-3, "1.tau_c": 4e-3,
           "1.K": 0.0729, "2.b": 1e-4, "2.tau_c": 9e-4, "gravity.tilt_x": 0.006,
           "gravity.tilt_z": -0.004}
FACTORS = (0.6, 1.6)  # of the central values


def make_scenarios(draw, seed, rate):
    start = f'initial {{ joint: "1" angle_rad: {draw.uniform(-1, 1):.5f} }} '
    period = draw.uniform(0.3, 0.45)
    pulses = " ".join(
        f"pulse {{ command: {(-1) ** k * 1.0:.1f} start_s: {0.5 + k * period:.4f} "
        f"width_s: {period:.4f} }}" for k in range(8))
    tail = f" rate_hz: {rate} noise {{ quantize: true seed: {seed} }}"
    return {
        "release": f'duration_s: 30 {start} initial {{ joint: "2" angle_rad: '
                   f'{3.14159 - draw.choice([-1, 1]) * draw.uniform(0.02, 0.2):.5f} }} '
                   'release { joint: "2" held_angle_rad: 3.14159 held_tolerance_rad: 0.5 '
                   "rest_speed_rad_per_s: 0.05 rest_time_s: 4 }" + tail,
        "pulse": f'duration_s: 12 {start} pulse {{ motor: "1" command: {draw.uniform(1, 3):.3f} '
                 "start_s: 0.5 width_s: 0.3 }" + tail,
        "swing-up": f'duration_s: 16 {start} pulse_train {{ motor: "1" {pulses} }}' + tail}


def run(*arguments):
    return subprocess.run([str(each) for each in arguments], capture_output=True, text=True)


def calibrate(rigcal, files, result):
    done = run(rigcal, "calibrate", "--quiet", "--rig", RIG, "--json", result, *files)
    if done.returncode != 0:
        return "failed", done.stderr.strip()
    verdict = json.loads(result.read_text())["verdict"]
    return verdict["kind"], verdict["sentence"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=50, help="simulated rigs; four verdicts each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=500, help="sampling rate [Hz]")
    parser.add_argument("--rigcal", default="build/bin/rigcal")
    options = parser.parse_args()
    counts = collections.Counter()
    for seed in range(options.seed, options.seed + options.runs):
        draw = random.Random(seed)
        truth = {name: value * draw.uniform(*FACTORS) for name, value in CENTRES.items()}
        starts = [part for each in truth.items() for part in ("--start", "%s=%r" % each)]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            files = []
            for name, text in make_scenarios(draw, seed, options.rate).items():
                scenario, csv = folder / f"{name}.textproto", folder / f"{name}.csv"
                scenario.write_text(f'name: "{name}" ' + text)
                done = run(options.rigcal, "simulate", "--rig", RIG, "--scenario", scenario,
                           "--out", csv, "--integrator", "physical", "--step", "1e-3", *starts)
                if done.returncode != 0:
                    raise SystemExit(f"seed {seed}, {name}: {done.stderr}")
                files.append(csv)
            for chosen in [[each] for each in files] + [files]:
                kind, sentence = calibrate(options.rigcal, chosen, folder / "result.json")
                counts[kind] += 1
                names = "+".join(each.stem for each in chosen)
                print(f"seed {seed}, {names}: {sentence}", flush=True)
    total = sum(counts.values())
    print(", ".join(f"{kind}: {count}" for kind, count in counts.most_common()),
          f"({100.0 * (total - counts['accepted']) / total:.1f} % not accepted)")


if __name__ == "__main__":
    main()
