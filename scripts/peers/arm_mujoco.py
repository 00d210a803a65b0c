"""Fits draws of `rigcal-study arm` with two links by MuJoCo's system identification toolbox.

mujoco.sysid fits simulations from given initial states by least squares with finite differences. It
first fits pieces of 0.5 s that start from filtered readings, then the first 10 s of the recording
with a free initial state. Inertias without effect on planar motion are left out. Masses are free,
since the toolbox can bound them to a tenth and ten times their start. Prints one table of draws and
one of medians.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import sysid

STEP_S = 2.5e-3
PIECE, PIECES = 50, 40  # samples per piece, number of pieces
WHOLE_S = 10.0
WINDOW, ORDER = 21, 3  # of the filter's polynomials
MOST_ITERATIONS = 60
FIRST_STATE = "first state"
REACH = 2.0  # bound on the change of the first state [rad, rad/s]

MODEL = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="{step}" integrator="RK4" gravity="0 {gravity} 0"/>
  <worldbody>
    <body name="L1" quat="{w} 0 0 {z}">
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <joint name="1" type="hinge" axis="0 0 1"/>
      <body name="L2" pos="{length} 0 0">
        <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
        <joint name="2" type="hinge" axis="0 0 1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="1"/><motor joint="2"/></actuator>
  <sensor><jointpos joint="1"/><jointpos joint="2"/></sensor>
</mujoco>
"""


def named(links):
    """Free parameters by name."""
    values = {}
    for i, link in enumerate(links):
        inertia = np.array(link["inertia"]).reshape(3, 3)
        values |= {f"{i}.mass": link["mass"], f"{i}.x": link["centre"][0],
                   f"{i}.y": link["centre"][1], f"{i}.zz": inertia[2, 2],
                   f"{i}.b": link["viscous"], f"{i}.tau": link["coulomb"]}
    return values | {"1.K": links[1]["gain"], "1.shaft": links[1]["shaft"]}


def base(values, links):
    """Base parameters of planar motion, friction and gain."""
    length = links[1]["point"][0]
    m, x, y, zz = (np.array([values[f"{i}.{k}"] for i in (0, 1)]) for k in ("mass", "x", "y", "zz"))
    about = zz + m * (x**2 + y**2)
    return np.array([about[0] + length**2 * m[1] + links[0]["shaft"], m[0] * x[0] + length * m[1],
                     m[0] * y[0], about[1], m[1] * x[1], m[1] * y[1], values["1.shaft"]]
                    + [values[f"{i}.{k}"] for i in (0, 1) for k in ("b", "tau")] + [values["1.K"]])


def filtered(angles, period):
    """Angles and rates from local polynomials."""
    half = WINDOW // 2
    powers = np.vander((np.arange(WINDOW) - half) * period, ORDER + 1, increasing=True)
    value, rate = np.linalg.pinv(powers)[:2]
    padded = np.pad(angles, ((half, half), (0, 0)), mode="reflect", reflect_type="odd")
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW, axis=0)
    return np.hstack([windows @ value, windows @ rate])


class Fit:
    def __init__(self, draw):
        self.draw, self.period = draw, draw["period"]
        self.angles = np.array(draw["angles"]).reshape(-1, 2)
        self.controls = np.array(draw["controls"]).reshape(-1, 2)
        self.states = filtered(self.angles, self.period)
        links = draw["truth"]
        mount = np.array(links[0]["mount"]).reshape(3, 3)
        turn = np.arctan2(mount[1, 0], mount[0, 0])
        text = MODEL.format(step=STEP_S, gravity=-draw["gravity"], w=np.cos(turn / 2),
                            z=np.sin(turn / 2), length=links[1]["point"][0])
        self.spec = mujoco.MjSpec.from_string(text)
        self.model = self.spec.compile()
        self.model.dof_armature[0] = links[0]["shaft"]
        self.model.dof_solref[:] = -1.0, -1.9 / STEP_S
        self.model.dof_solimp[:, :2] = 0.9999
        self.data = mujoco.MjData(self.model)
        self.start = named(draw["start"])
        self.parameters = sysid.ParameterDict()
        for name, value in self.start.items():
            signed = name.endswith((".x", ".y"))
            low, high = (-0.5, 0.5) if signed else (0.1 * value, 10.0 * value)
            self.parameters.add(sysid.Parameter(name, value, low, high))

    def values(self, parameters):
        return {name: parameters[name].value[0] for name in self.start}

    def build(self, parameters, _spec):
        values, model = self.values(parameters), self.model
        for i in (0, 1):
            model.body_mass[i + 1] = values[f"{i}.mass"]
            model.body_ipos[i + 1] = values[f"{i}.x"], values[f"{i}.y"], 0.0
            model.body_inertia[i + 1] = values[f"{i}.zz"]
            model.dof_damping[i] = values[f"{i}.b"]
            model.dof_frictionloss[i] = values[f"{i}.tau"]
        model.dof_armature[1] = values["1.shaft"]
        model.actuator_gear[1, 0] = values["1.K"]
        mujoco.mj_setConst(model, self.data)
        return copy.copy(model)

    def piece(self, first, count):
        each = round(self.period / STEP_S)
        times = np.arange(count * each + 1) * STEP_S
        controls = np.repeat(self.controls[first : first + count], each, axis=0)
        readings = np.repeat(self.angles[first : first + count + 1], each, axis=0)[: len(times)]
        return sysid.SystemTrajectory(
            model=self.model,
            control=sysid.TimeSeries(times, np.vstack([controls, controls[-1:]])),
            sensordata=sysid.TimeSeries.from_names(times, readings, self.model),
            initial_state=np.concatenate([[0.0], self.states[first]]), state=None)

    def residuals(self, _parameters, _predicted, measured, _model, _all, state):
        each = round(self.period / STEP_S)
        predicted = state[each::each, 1:3]  # the last state is not compared
        return predicted - measured.data[each::each][: len(predicted)], measured, measured

    def rollout(self, initial_states, param_dicts, **others):
        if FIRST_STATE in param_dicts[0].keys():
            initial_states = [state + np.append(0.0, parameters[FIRST_STATE].value)
                              for state, parameters in zip(initial_states, param_dicts)]
        return sysid.sysid_rollout(initial_states=initial_states, **others)

    def stage(self, pieces):
        sequences = sysid.ModelSequences(
            "arm", self.spec, [f"piece {k}" for k in range(len(pieces))],
            [piece.initial_state for piece in pieces], [piece.control for piece in pieces],
            [piece.sensordata for piece in pieces])
        residual = sysid.build_residual_fn(
            models_sequences=[sequences], build_model=self.build, modify_residual=self.residuals,
            custom_rollout=self.rollout, n_threads=1, resample_true=False)
        self.parameters, _ = sysid.optimize(self.parameters, residual, verbose=False,
                                            max_iters=MOST_ITERATIONS, x_scale="jac")

    def __call__(self):
        last = len(self.angles) - PIECE - 1
        starts = np.linspace(0, last, PIECES).astype(int)
        self.stage([self.piece(first, PIECE) for first in starts])
        self.parameters.add(sysid.Parameter(FIRST_STATE, np.zeros(4), -np.full(4, REACH),
                                            np.full(4, REACH)))
        self.stage([self.piece(0, min(round(WHOLE_S / self.period), len(self.angles) - 1))])
        return self.values(self.parameters)


def compare(line):
    """Returns noise, number, relative errors and processor time [s] of one draw."""
    draw = json.loads(line)
    begin = time.process_time()
    # The toolbox prints its iterations to standard output, which is for the table.
    with contextlib.redirect_stdout(sys.stderr):
        values = Fit(draw)()
    truth = base(named(draw["truth"]), draw["truth"])
    error = abs(base(values, draw["truth"]) - truth) / abs(truth)
    return draw["noise"], draw["draw"], error, time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=Path, help="draws.jsonl of the study")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="draws at once")
    arguments = parser.parse_args()
    with arguments.draws.open(encoding="utf-8") as lines:
        draws = [line for line in lines if len(json.loads(line)["truth"]) == 2]
    print("| noise | draw | median error | largest | processor time [s] |")
    print("|---:|---:|---:|---:|---:|")
    kept = {}
    with multiprocessing.Pool(arguments.jobs) as pool:
        for noise, number, error, seconds in pool.imap(compare, draws):
            print(f"| {noise:g} | {number} | {100 * np.median(error):.3g} % | "
                  f"{100 * error.max():.3g} % | {seconds:.0f} |", flush=True)
            kept.setdefault(noise, []).append((error, seconds))
    print("\n| noise | draws | median error | 90 % below | processor time [s] |")
    print("|---:|---:|---:|---:|---:|")
    for noise, runs in kept.items():
        errors = np.concatenate([error for error, _ in runs])
        print(f"| {noise:g} | {len(runs)} | {100 * np.median(errors):.3g} % | "
              f"{100 * np.quantile(errors, 0.9):.3g} % | "
              f"{np.mean([seconds for _, seconds in runs]):.0f} |")


if __name__ == "__main__":
    main()
