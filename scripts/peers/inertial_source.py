"""Tests rigcal on inertial sensors simulated by MuJoCo, with faults that its model lacks."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

PERIOD = 2e-3  # of readings [s]
STEPS = 10  # simulator steps per reading
ANGLE_NOISE = 3e-4  # [rad]
GYRO_NOISE, ACCEL_NOISE = 5e-3, 3e-2  # [rad/s], [m/s²]
INTERVAL = 1.96

# A Furuta pendulum: arm A turns about the vertical, pendulum B about the arm. Body frames are at
# the centres of mass, as in the rig file below.
MODEL = """<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 -9.81 0" timestep="{step}" integrator="RK4"/>
  <worldbody>
    <body name="A" xyaxes="1 0 0 0 0 -1">
      <joint name="1" axis="0 0 1" damping="{b1}" armature="4e-4"/>
      <inertial mass="0.238" pos="0.128 0 0" diaginertia="1e-4 {A} {A}"/>
      <site name="imu1" pos="{p1}" quat="{m1}"/>
      <body name="B" pos="0.376 0 0" xyaxes="0 0 -1 1 0 0">
        <joint name="2" axis="0 1 0" damping="{b2}"/>
        <inertial mass="0.428" pos="0.092 0 0" diaginertia="1e-4 {By} {Bz}"/>
        <site name="imu2" pos="{p2}" quat="{m2}"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="1" gear="{K}"/></actuator>
  <sensor>
    <gyro site="imu1"/><accelerometer site="imu1"/>
    <gyro site="imu2"/><accelerometer site="imu2"/>
  </sensor>
</mujoco>"""

RIG = """name: "second-source"
body {{ name: "A" mass {{ value: 0.238 }}
  inertia {{ xx {{ value: 1e-4 }} yy {{ value: 5e-3 }} zz {{ value: 5e-3 free: true }} }} }}
body {{ name: "B" mass {{ value: 0.428 }}
  inertia {{ xx {{ value: 1e-4 }} yy {{ value: 2e-3 free: true }} zz {{ value: 2e-3 free: true }} }} }}
joint {{ name: "1"
  parent {{ body: "ground" axis {{ y: 1 }} zero_direction {{ x: 1 }} }}
  child {{ body: "A" point {{ x {{ value: -0.128 }} }} axis {{ z: 1 }} zero_direction {{ x: 1 }} }}
  friction {{ viscous {{ value: 1e-3 free: true }} }}
  motor {{ control_unit: "V" gain {{ value: 0.05 free: true }} shaft_inertia {{ value: 4e-4 }} }}
  encoder {{}} }}
joint {{ name: "2"
  parent {{ body: "A" point {{ x {{ value: 0.248 }} }} axis {{ x: 1 }} zero_direction {{ z: -1 }} }}
  child {{ body: "B" point {{ x {{ value: -0.092 }} }} axis {{ y: 1 }} zero_direction {{ x: 1 }} }}
  friction {{ viscous {{ value: 1e-4 free: true }} }}
  encoder {{}} }}
gravity {{ magnitude {{ value: 9.81 }} }}
{sensors}
recording {{ time {{ column: "t" }}
  angle {{ joint: "1" column: "a1" unit: RADIAN }} angle {{ joint: "2" column: "a2" unit: RADIAN }}
  control {{ joint: "1" column: "u" }}
{columns} }}
"""

SENSOR = """inertial_sensor {{ name: "imu{k}" body: "{body}"
  point {{ x {{ value: 0 free: true }} y {{ value: 0 free: true }} z {{ value: 0 free: true }} }}
  mounting {{ x {{ value: 0 free: true }} y {{ value: 0 free: true }} z {{ value: 0 free: true }} }}
  gyroscope {{ bias {{ x {{ value: 0 free: true }} y {{ value: 0 free: true }} z {{ value: 0 free: true }} }} {cross} }}
  accelerometer {{ bias {{ x {{ value: 0 free: true }} y {{ value: 0 free: true }} z {{ value: 0 free: true }} }} {cross} }}
  delay {{ value: 0 free: true }} }}
"""


@dataclass
class Faults:
    """Sensor faults; the model of the sensor need not include them."""

    delay: float = 0.0  # [s]; included in the model
    misalignment: float = 0.0  # between axes [rad]
    filter_time: float = 0.0  # of a first-order low-pass [s]
    described: bool = False  # whether the rig file includes the misalignment, as from a data sheet


# Delays are no multiples of PERIOD: at a command step an acceleration has two values.
CASES = {
    "turned, shifted, biased": Faults(delay=0.8e-3),
    "and 3.4 ms late": Faults(delay=3.4e-3),
    "and axes 0.3 deg askew": Faults(delay=3.4e-3, misalignment=np.radians(0.3)),
    "and that described, 1 %": Faults(delay=3.4e-3, misalignment=np.radians(0.3), described=True),
    "and a low-pass of 2 ms": Faults(delay=3.4e-3, misalignment=np.radians(0.3), filter_time=2e-3),
}


def rotation(vector: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(vector)
    x, y, z = vector / max(angle, 1e-300)
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across


def quaternion(vector: np.ndarray) -> str:
    angle = np.linalg.norm(vector)
    parts = [np.cos(angle / 2), *(np.sin(angle / 2) * vector / angle)]
    return " ".join(repr(float(p)) for p in parts)


def text(vector: np.ndarray) -> str:
    return " ".join(repr(float(v)) for v in vector)


def simulate(rng: np.random.Generator, faults: Faults, seconds: float):
    """Time, angles, control, readings of both sensors, and true constants by rigcal's names."""
    slender = np.exp(rng.normal(0, 0.2))
    truth = {"1.b": 2e-3 * np.exp(rng.normal(0, 0.3)), "2.b": 2e-4 * np.exp(rng.normal(0, 0.3)),
             "A.J_zz": 4e-3 * np.exp(rng.normal(0, 0.2)), "B.J_yy": 1.2e-3 * slender,
             "B.J_zz": 1.25e-3 * slender, "1.K": 0.06 * np.exp(rng.normal(0, 0.2))}
    points = [rng.uniform(-0.05, 0.05, 3) for _ in range(2)]
    mounts = [rng.uniform(-0.3, 0.3, 3) for _ in range(2)]
    biases = [np.r_[rng.normal(0, 0.02, 3), rng.normal(0, 0.1, 3)] for _ in range(2)]
    com = [np.array([0.128, 0, 0]), np.array([0.092, 0, 0])]
    model = mujoco.MjModel.from_xml_string(MODEL.format(
        step=PERIOD / STEPS, b1=truth["1.b"], b2=truth["2.b"], A=truth["A.J_zz"], By=truth["B.J_yy"],
        Bz=truth["B.J_zz"], K=truth["1.K"], p1=text(points[0] + com[0]), p2=text(points[1] + com[1]),
        m1=quaternion(mounts[0]), m2=quaternion(mounts[1])))
    data = mujoco.MjData(model)
    data.qpos[:] = rng.uniform(-0.5, 0.5, 2)
    rows = int(seconds / PERIOD)
    lines = rng.uniform(0.3, 4.0, 6), rng.uniform(0, 2 * np.pi, 6)
    fine, controls, angles = [], [], []
    for k in range(rows):
        t = k * PERIOD
        u = float(1.2 * np.sum(np.sin(2 * np.pi * lines[0] * t + lines[1])))
        controls.append(u)
        angles.append(data.qpos.copy())
        data.ctrl[0] = u
        for _ in range(STEPS):
            mujoco.mj_forward(model, data)
            fine.append(data.sensordata.copy())
            mujoco.mj_step(model, data)
    fine = np.array(fine)
    if faults.filter_time > 0:
        share = -np.expm1(-PERIOD / STEPS / faults.filter_time)
        for k in range(1, len(fine)):
            fine[k] = fine[k - 1] + share * (fine[k] - fine[k - 1])
    late = int(round(faults.delay / (PERIOD / STEPS)))
    at = np.maximum(np.arange(rows) * STEPS - late, 0)
    readings = fine[at]
    for k in range(2):
        skew = np.eye(3) + np.triu(rng.normal(0, faults.misalignment, (3, 3)), 1)
        block = readings[:, 6 * k:6 * k + 6]
        block[:, :3], block[:, 3:] = block[:, :3] @ skew.T, block[:, 3:] @ skew.T
        block += biases[k]
        block += rng.normal(0, 1, block.shape) * np.r_[[GYRO_NOISE] * 3, [ACCEL_NOISE] * 3]
        for axis, name in enumerate("xyz"):
            truth[f"imu{k + 1}.p_{name}"] = points[k][axis]
            truth[f"imu{k + 1}.mount_{name}"] = mounts[k][axis]
            truth[f"imu{k + 1}.gyro_bias_{name}"] = biases[k][axis]
            truth[f"imu{k + 1}.accel_bias_{name}"] = biases[k][3 + axis]
            for other, second in enumerate("xyz"):
                for instrument in ("gyro", "accel"):
                    truth[f"imu{k + 1}.{instrument}_cross_{name}{second}"] = skew[axis, other]
        truth[f"imu{k + 1}.delay"] = late * PERIOD / STEPS
    angles = np.array(angles) + rng.normal(0, ANGLE_NOISE, (rows, 2))
    return np.arange(rows) * PERIOD, angles, np.array(controls), readings, truth


def run(rigcal: str, rng: np.random.Generator, faults: Faults, seconds: float, withhold: bool):
    t, angles, controls, readings, truth = simulate(rng, faults, seconds)
    names = [f"imu{k}_{axis}" for k in (1, 2) for axis in ("gx", "gy", "gz", "ax", "ay", "az")]
    with tempfile.TemporaryDirectory() as folder:
        columns = "".join(
            f'  inertial {{ sensor: "imu{name[3]}" axis: {"GYRO" if name[5] == "g" else "ACCEL"}_'
            f'{name[6].upper()} column: "{name}" unit: '
            f'{"RADIAN_PER_SECOND" if name[5] == "g" else "METER_PER_SECOND_SQUARED"} }}\n'
            for name in names)
        cross = "cross_axis { deviation_percent: 1 }" if faults.described else ""
        sensors = "".join(SENSOR.format(k=k, body=body, cross=cross) for k, body in ((1, "A"), (2, "B")))
        Path(folder, "rig.textproto").write_text(RIG.format(sensors=sensors, columns=columns))
        table = np.column_stack([t, angles, controls, readings])
        np.savetxt(Path(folder, "run.csv"), table, delimiter=",", fmt="%.12g",
                   header=",".join(["t", "a1", "a2", "u", *names]), comments="")
        command = [rigcal, "calibrate", str(Path(folder, "run.csv")), "--rig",
                   str(Path(folder, "rig.textproto")), "--json", str(Path(folder, "out.json")), "--quiet"]
        if withhold:
            command += ["--hold-out", "2"]
        done = subprocess.run(command, capture_output=True, text=True)
        if not Path(folder, "out.json").exists():
            return None, None, done.stdout + done.stderr
        result = json.loads(Path(folder, "out.json").read_text())
    rmse = result["heldOut"][0]["rmseRad"] if withhold else result["observationRmseRad"]
    scores = {}
    for parameter in result["parameters"]:
        deviation = parameter["standardDeviation"]
        if isinstance(deviation, str) or deviation <= 0:
            continue
        scores[parameter["name"]] = (parameter["value"] - truth[parameter["name"]]) / deviation
    return rmse, scores, result["verdict"]["kind"]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rigcal", required=True)
    options.add_argument("--draws", type=int, default=10)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    print(f"{given.draws} draws of {given.seconds:g} s each; all constants of both sensors free\n")
    print(f"{'case':28} {'encoders':9} {'rmse 2 [mrad]':>14} {'|error|/sd: mean':>17} {'inside 95 %':>12}  verdicts")
    for name, faults in CASES.items():
        for withhold in (False, True):
            errors, scores, verdicts = [], [], {}
            for draw in range(given.draws):
                rng = np.random.default_rng([given.seed, draw])
                rmse, score, verdict = run(given.rigcal, rng, faults, given.seconds, withhold)
                if score is None:
                    print(f"  draw {draw} of '{name}' has no result: {verdict[:300]}", file=sys.stderr)
                    continue
                errors.append(rmse)
                scores += [score[key] for key in sorted(score)]
                verdicts[verdict] = verdicts.get(verdict, 0) + 1
            inside = np.mean(np.abs(scores) < INTERVAL) if scores else np.nan
            reported = ", ".join(f"{count} {kind}" for kind, count in sorted(verdicts.items()))
            print(f"{name:28} {'1' if withhold else '1, 2':9} {1e3 * np.mean(errors):14.3f} "
                  f"{np.mean(np.abs(scores)):17.2f} {100 * inside:11.1f}%  {reported}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
