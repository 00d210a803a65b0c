"""Compares robots that rigcal exports with MuJoCo and Pinocchio (compare_models.sh)."""

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import mujoco
import numpy as np
import pinocchio

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
RIGS = ("pendulum", "furuta", "chain3", "cartpole")
LIMIT = 1e-9  # of the largest acceleration
STATES = 50


def frictionless(text):
    """Returns a rig file without friction and air drag, which the formats express differently."""
    laws = r"((?:coulomb_torque|coulomb_force|quadratic_drag|viscous)(?: \{ value)?:) [^ }]+"
    return re.sub(laws, r"\1 0", text)


def rigcal_accelerations(module, states):
    spec = importlib.util.spec_from_file_location(module.stem, module)
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    dynamics, values = exported.dynamics(), list(exported.PARAMETERS.values())
    command = np.zeros(dynamics.size1_in(2))
    return np.array([np.array(dynamics(q, v, command, values)).ravel() for q, v in states])


def mujoco_accelerations(path, states):
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    data = mujoco.MjData(model)
    accelerations = []
    for data.qpos[:], data.qvel[:] in states:
        mujoco.mj_forward(model, data)
        accelerations.append(data.qacc.copy())
    return np.array(accelerations)


def pinocchio_accelerations(path, states, mjcf):
    """Takes gravity and the motors' inertias from the MuJoCo model, as a URDF file has none."""
    source = mujoco.MjModel.from_xml_path(str(mjcf))
    model = pinocchio.buildModelFromUrdf(str(path))
    model.gravity.linear = source.opt.gravity
    model.armature = source.dof_armature
    data = model.createData()
    # A continuous joint has the coordinates cos q, sin q.
    def coordinates(q):
        return pinocchio.integrate(model, pinocchio.neutral(model), q)
    return np.array([pinocchio.aba(model, data, coordinates(q), v, np.zeros(model.nv))
                     for q, v in states])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rigcal", required=True)
    rigcal = parser.parse_args().rigcal
    random, wrong = np.random.default_rng(1), 0
    with tempfile.TemporaryDirectory() as folder:
        for name in RIGS:
            rig, module, urdf, mjcf = (Path(folder) / f"{name}{ending}"
                                       for ending in (".textproto", ".py", ".urdf", ".xml"))
            rig.write_text(frictionless((CONFIGS / f"rig-{name}.textproto").read_text()))
            subprocess.run([rigcal, "export", rig, "--out", module, "--out", urdf, "--out", mjcf],
                           check=True, capture_output=True)
            joints = mujoco.MjModel.from_xml_path(str(mjcf)).nv
            states = [(random.uniform(-3, 3, joints), random.uniform(-5, 5, joints))
                      for _ in range(STATES)]
            own = rigcal_accelerations(module, states)
            for peer, accelerations in (
                    ("MuJoCo", mujoco_accelerations(mjcf, states)),
                    ("Pinocchio", pinocchio_accelerations(urdf, states, mjcf))):
                error = np.abs(accelerations - own).max() / np.abs(own).max()
                wrong += not error <= LIMIT
                print(f"{name}: accelerations of {peer + ' [relative]':24} {error:.1e}  "
                      f"{'at most' if error <= LIMIT else 'ABOVE'} {LIMIT:.0e}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
