"""Tests `rigcal-study leg` on a leg with a four-bar linkage simulated by MuJoCo."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np

PERIOD = 2e-3  # of samples; torques are constant in between [s]
STEPS = 40  # simulator steps per sample
ENCODER_NOISE, TORQUE_NOISE = 1e-5, 0.1  # [rad], [N·m]
SLOPE = 2.5  # of the smoothed dry friction at zero rate [s/rad]
LEVER = 0.25  # constant angle between lever and calf [rad]

# In the robot's axes: x forward, y left, z up. The pin at the calf is a constraint.
MODEL = """<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81" timestep="{step}" integrator="RK4" tolerance="1e-14"/>
  <worldbody>
    <body name="hip">
      <joint name="HAA" axis="1 0 0" armature="{rotors[0]}"/>
      <inertial mass="1.998" pos="-0.020298 -0.009758 -0.000109"
                fullinertia="0.004066 0.008775 0.00606 -0.000288 0 0"/>
      <body name="thigh" pos="0 0.12675 0">
        <joint name="HFE" axis="0 1 0" armature="{rotors[1]}"/>
        {thigh}
        <body name="crank" pos="0 0 -0.0515">
          <joint name="KFE" axis="0 1 0" armature="{rotors[2]}"/>
          <inertial mass="0.1" pos="0 0 -0.0215" diaginertia="2e-5 2e-5 1e-5"/>
          <body name="coupler" pos="0 0 -0.043">
            <joint name="pin1" axis="0 1 0"/>
            <inertial mass="0.2" pos="0 0 -0.15" diaginertia="1.5e-3 1.5e-3 2e-5"/>
            <site name="coupler's end" pos="0 0 -0.3"/>
          </body>
        </body>
        <body name="calf" pos="0 0 -0.35">
          <joint name="knee" axis="0 1 0"/>
          {calf}
          <site name="lever's end" pos="{lever_x} 0 {lever_z}"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect site1="coupler's end" site2="lever's end" solref="{stiff} 1" solimp="0.9999 0.9999 1e-3"/>
  </equality>
</mujoco>"""

BODIES = {"thigh": (3.444, (0.005, -0.025, -0.0512),
                    (0.035982, 0.037758, 0.006637, 0.000032, 0.001385, -0.004234)),
          "calf": (0.803, (0.00565, -0.000236, -0.150538),
                   (0.017617, 0.017722, 0.000409, 0.0, -0.000532, -0.00003))}
MOTORS = ["HAA", "HFE", "KFE"]
ABOUT, AMPLITUDE = np.array([0.0, 0.8, -2.2]), np.array([0.3, 0.6, 0.8])  # [rad]
STIFFNESS, DAMPING = np.array([200.0, 200.0, 100.0]), np.array([8.0, 8.0, 4.0])

NOMINAL = [f'  nominal: "{joint}.{what}=0"'
           for joint in ("HAA", "HFE", "knee") for what in ("J_shaft", "b", "gamma_4")]

STUDY = """kind: LEG
title: "A four-bar leg simulated by MuJoCo"
leg {{
  rig: "{configs}/rig-leg.textproto"
  ratio_rig: "{configs}/rig-leg-ratio.textproto"
{nominal}
  torque_noise_Nm: {noise}
  cutoff_Hz: 35
  recorded {{ training: "training.csv" held_out: "held-out.csv" }}
}}
"""


def inertial(name: str, rng: np.random.Generator) -> str:
    """A body's inertial parameters with errors: 20 %, and a part of the radius of gyration."""
    mass, centre, moments = BODIES[name]
    gyration = np.sqrt(sum(moments[:3]) / 2 / mass)
    mass = float(mass * np.exp(0.2 * rng.normal()))
    moments = np.array(moments) * np.exp(0.2 * rng.normal())
    centre = np.array(centre) + 0.14 * gyration * rng.normal(size=3)

    def row(values) -> str:
        return " ".join(repr(float(v)) for v in values)

    return f'<inertial mass="{mass!r}" pos="{row(centre)}" fullinertia="{row(moments)}"/>'


def lever_angle(crank: float) -> float:
    """Angle of the lever below the thigh's line for a crank angle, from the coupler's length."""
    along, across = 0.2985 - 0.043 * np.cos(crank), -0.043 * np.sin(crank)
    # 0.09 = (along + 0.043 cos l)^2 + (across + 0.043 sin l)^2
    reach = np.hypot(along, across)
    turn = np.arccos((0.09 - 0.043**2 - reach**2) / (2 * 0.043 * reach))
    at = np.arctan2(across, along)
    both = [np.angle(np.exp(1j * (at + sign * turn))) for sign in (1, -1)]
    return min(both, key=lambda angle: abs(angle - crank))


def reference(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Motor position commands, rows x motors: three sines each [rad]."""
    time = PERIOD * np.arange(rows)
    columns = []
    for _ in MOTORS:
        rates = 2 * np.pi * np.exp(rng.uniform(np.log(0.2), np.log(2.5), 3))
        phases = rng.uniform(0, 2 * np.pi, 3)
        sines = np.sin(np.outer(time, rates) + phases).sum(axis=1)
        columns.append(sines / np.abs(sines).max())
    fade = 0.5 - 0.5 * np.cos(np.pi * np.minimum(time, 1.0))
    return ABOUT + AMPLITUDE * fade[:, None] * np.array(columns).T


def record(model: mujoco.MjModel, viscous: np.ndarray, dry: np.ndarray, rng: np.random.Generator,
           seconds: float, path: Path) -> float:
    """Moves the leg and writes the measurements; returns the largest gap of the pin [m]."""
    data = mujoco.MjData(model)
    joint = {name: model.joint(name).qposadr[0]
             for name in ("HAA", "HFE", "KFE", "pin1", "knee")}
    motors = [joint[name] for name in MOTORS]
    lever = lever_angle(ABOUT[2])
    data.qpos[motors] = ABOUT
    data.qpos[joint["knee"]] = lever + LEVER
    # Upward, then forward.
    crank_end = -0.0515 - 0.043 * np.cos(ABOUT[2]), -0.043 * np.sin(ABOUT[2])
    lever_end = -0.35 - 0.043 * np.cos(lever), -0.043 * np.sin(lever)
    coupler = np.arctan2(crank_end[1] - lever_end[1], crank_end[0] - lever_end[0])
    data.qpos[joint["pin1"]] = coupler - ABOUT[2]
    wanted = reference(rng, int(seconds / PERIOD))
    rows, gap = [], 0.0
    for target in wanted:
        torque = STIFFNESS * (target - data.qpos[motors]) - DAMPING * data.qvel[motors]
        angles = data.qpos[motors + [joint["knee"]]]
        rows.append(np.r_[data.time, angles + ENCODER_NOISE * rng.normal(size=4),
                          torque + TORQUE_NOISE * rng.normal(size=3)])
        for _ in range(STEPS):
            data.qfrc_applied[:] = -viscous * data.qvel - dry * np.tanh(SLOPE * data.qvel)
            data.qfrc_applied[motors] += torque
            mujoco.mj_step(model, data)
        gap = max(gap, float(np.linalg.norm(data.site(0).xpos - data.site(1).xpos)))
    np.savetxt(path, rows, delimiter=",", comments="", fmt="%.10g",
               header="t_s,HAA_rad,HFE_rad,KFE_rad,knee_rad,HAA_Nm,HFE_Nm,KFE_Nm")
    return gap


def make_leg(seed: int, seconds: float, folder: Path) -> float:
    rng = np.random.default_rng(seed)
    factors = np.exp(0.2 * rng.normal(size=11))
    rotors = np.array([0.04, 0.04, 0.06]) * factors[:3]
    # In the order of the model's joints: HAA, HFE, KFE, pin1, knee.
    viscous = np.array([0.3, 0.3, 0.4, 0.0, 0.05]) * np.r_[factors[3:6], 1, factors[6]]
    dry = np.array([1.0, 1.0, 1.5, 0.0, 0.2]) * np.r_[factors[7:10], 1, factors[10]]
    step = PERIOD / STEPS
    model = mujoco.MjModel.from_xml_string(MODEL.format(
        step=step, stiff=2 * step, rotors=[float(r) for r in rotors], thigh=inertial("thigh", rng),
        calf=inertial("calf", rng), lever_x=float(-0.043 * np.sin(-LEVER)),
        lever_z=float(-0.043 * np.cos(-LEVER))))
    folder.mkdir(parents=True, exist_ok=True)
    return max(record(model, viscous, dry, rng, seconds, folder / name)
               for name in ("training.csv", "held-out.csv"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rigcal", required=True)
    parser.add_argument("--out", default="out/leg", type=Path)
    parser.add_argument("--legs", default=3, type=int)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--seconds", default=10.0, type=float)
    args = parser.parse_args()
    status = 0
    for k in range(args.legs):
        folder = args.out / f"leg{k + 1}"
        gap = make_leg(args.seed + k, args.seconds, folder)
        print(f"== leg {k + 1}: the pin gapes by at most {gap:.1e} m", flush=True)
        study = folder / "study.textproto"
        study.write_text(STUDY.format(configs=Path("configs").resolve(), noise=TORQUE_NOISE,
                                      nominal="\n".join(NOMINAL)))
        done = subprocess.run([args.rigcal + "-study", study, "--out", folder / "study",
                               "--quiet"], check=False)
        status = max(status, done.returncode)
    return status


if __name__ == "__main__":
    sys.exit(main())
