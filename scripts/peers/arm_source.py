"""Checks draws of `rigcal-study arm` by simulating the same arms with Pinocchio.

The arm is integrated from each recorded state to the next one under a constant control. Intervals
in which a joint reverses or rests are skipped: Pinocchio has no dry friction.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pinocchio as pin

STEPS = 8  # Runge-Kutta steps per sample
SAMPLES = 500  # per draw


def build(links: list[dict], gravity: float) -> pin.Model:
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -gravity, 0.0])
    parent = 0
    for i, link in enumerate(links):
        mount = np.array(link["mount"]).reshape(3, 3)
        placement = pin.SE3(mount, np.array(link["point"]))
        parent = model.addJoint(parent, pin.JointModelRZ(), placement, str(i + 1))
        inertia = np.array(link["inertia"]).reshape(3, 3)
        body = pin.Inertia(link["mass"], np.array(link["centre"]), inertia)
        model.appendBodyToJoint(parent, body, pin.SE3.Identity())
    model.armature = np.array([link["shaft"] for link in links])
    return model


def advance(model, data, links, q, v, u, period):
    """Returns the next sample's state, with the signs of all rates kept constant."""
    gain, b, dry = (np.array([link[k] for link in links]) for k in ("gain", "viscous", "coulomb"))
    sense = np.sign(v)
    h = period / STEPS

    def slope(q, v):
        return pin.aba(model, data, q, v, gain * u - b * v - dry * sense)

    for _ in range(STEPS):
        a1 = slope(q, v)
        v2 = v + 0.5 * h * a1
        a2 = slope(q + 0.5 * h * v, v2)
        v3 = v + 0.5 * h * a2
        a3 = slope(q + 0.5 * h * v2, v3)
        v4 = v + h * a3
        a4 = slope(q + h * v3, v4)
        q = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q, v


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=Path, help="draws.jsonl of the study")
    arguments = parser.parse_args()
    print("| links | draw | samples | largest difference of angles [rad] | of rates [rad/s] |")
    print("|---:|---:|---:|---:|---:|")
    for line in arguments.draws.open(encoding="utf-8"):
        draw = json.loads(line)
        if draw["noise"] != 0:  # without noise, readings are the true angles
            continue
        links = draw["truth"]
        n = len(links)
        angles, rates, controls = (np.array(draw[k]).reshape(-1, n) for k in
                                   ("angles", "true_rates", "controls"))
        model = build(links, draw["gravity"])
        data = model.createData()
        worst, used = np.zeros(2), 0
        for k in range(1, min(SAMPLES, len(angles) - 1)):
            if (rates[k] * rates[k + 1] <= 0).any():
                continue
            q, v = advance(model, data, links, angles[k], rates[k], controls[k], draw["period"])
            off = abs(q - angles[k + 1]).max(), abs(v - rates[k + 1]).max()
            worst, used = np.maximum(worst, off), used + 1
        print(f"| {n} | {draw['draw']} | {used} | {worst[0]:.1e} | {worst[1]:.1e} |", flush=True)


if __name__ == "__main__":
    main()
