"""Compares base parameters of robots' URDF files between rigcal and Pinocchio's regressor."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

SAMPLES = 300
RELATIVE_RANK = 1e-9
PICKED = ["double_pendulum_simple", "TwoDofs", "ur5_robot", "ur10_robot", "z1", "so101", "panda",
          "kinova", "finger_edu", "talos_left_arm"]
# Order of a body's parameters in Pinocchio: m, mc, then I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about
# the joint's frame.
PARTS = ["m", "mc_x", "mc_y", "mc_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz"]
TERM = re.compile(r"\s*([+−]?)\s*(?:([0-9.e+-]+) )?([^\s]+)")


def following(model: pin.Model, urdf: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns G, offset: all joints are G x + offset, x the joints that do not mimic others."""
    G, offset = np.eye(model.nv), np.zeros(model.nv)
    at = {model.names[joint]: model.idx_vs[joint] for joint in range(1, model.njoints)}
    for joint in ElementTree.parse(urdf).getroot().iter("joint"):
        mimic = joint.find("mimic")
        if mimic is None or joint.get("name") not in at or mimic.get("joint") not in at:
            continue
        row, ratio = at[joint.get("name")], float(mimic.get("multiplier", 1.0))
        G[row] = ratio * G[at[mimic.get("joint")]]
        offset[row] = float(mimic.get("offset", 0.0)) + ratio * offset[at[mimic.get("joint")]]
    return G[:, np.abs(G).sum(axis=0) > 0.0], offset


def regressor(model: pin.Model, urdf: Path, seed: int) -> np.ndarray:
    """Returns the torque regressor over random motions, a row per independent joint and sample."""
    rng = np.random.default_rng(seed)
    data = model.createData()
    G, offset = following(model, urdf)
    rows = []
    for _ in range(SAMPLES):
        size = G.shape[1]
        # Pinocchio represents continuous joints by cosine and sine.
        q = pin.integrate(model, pin.neutral(model), G @ rng.uniform(-3.0, 3.0, size) + offset)
        v, a = G @ rng.uniform(-3.0, 3.0, size), G @ rng.uniform(-10.0, 10.0, size)
        rows.append(G.T @ pin.computeJointTorqueRegressor(model, data, q, v, a))
    return np.vstack(rows)


def rank(matrix: np.ndarray) -> int:
    scale = np.linalg.norm(matrix, axis=0)
    columns = matrix[:, scale > 1e-9 * scale.max()]
    values = np.linalg.svd(columns / np.linalg.norm(columns, axis=0), compute_uv=False)
    return int((values > RELATIVE_RANK * values[0]).sum())


def combinations(rigcal: Path, urdf: Path, folder: Path) -> list[dict[str, float]]:
    """Returns the combinations of `rigcal info --base` as factors by name."""
    rig = folder / "rig.textproto"
    subprocess.run([rigcal, "import", urdf, "--out", rig, "--force", "--no-friction"], check=True,
                   capture_output=True)
    text = subprocess.run([rigcal, "info", rig, "--base"], check=True, capture_output=True,
                          text=True).stdout
    lines = text[text.index("base parameter"):].split("\n\n")[0].splitlines()[1:]
    found = []
    for line in lines:
        described = re.split(r"\s{2,}", line)[0]
        terms = {}
        for sign, factor, name in TERM.findall(described):
            terms[name] = (-1.0 if sign == "−" else 1.0) * (float(factor) if factor else 1.0)
        found.append(terms)
    return found


def columns_of(model: pin.Model) -> dict[str, int]:
    """Returns each parameter's column, by rigcal's names: those of the link that a joint moves."""
    columns = {}
    for joint in range(1, model.njoints):
        frames = [f.name for f in model.frames
                  if f.parentJoint == joint and f.type == pin.FrameType.BODY
                  and f.placement.isIdentity(1e-12)]
        for name in frames:
            for part, label in enumerate(PARTS):
                columns[f"{name}.{label}"] = 10 * (joint - 1) + part
    return columns


def compare(rigcal: Path, urdf: Path) -> list[str]:
    model = pin.buildModelFromUrdf(str(urdf))
    W = regressor(model, urdf, 1)
    expected = rank(W)
    with tempfile.TemporaryDirectory() as folder:
        reported = combinations(rigcal, urdf, Path(folder))
    columns = columns_of(model)
    # The regressor excludes rotor inertias.
    reported = [{name: factor for name, factor in terms.items() if not name.endswith("_shaft")}
            for terms in reported]
    reported = [terms for terms in reported if terms]
    row = [urdf.stem, str(model.njoints - 1), str(expected), str(len(reported))]
    if not all(name in columns for terms in reported for name in terms):
        return row + ["links on fixed joints: only counted"]
    B = np.zeros((len(reported), W.shape[1]))
    for i, terms in enumerate(reported):
        for name, factor in terms.items():
            B[i, columns[name]] = factor
    # Each combination should lie in the regressor's row space; what remains outside is rounding of
    # the four printed digits.
    seen = np.linalg.svd(W, full_matrices=False)
    basis = seen[2][seen[1] > RELATIVE_RANK * seen[1][0]]
    across = B - B @ basis.T @ basis
    worst = (np.linalg.norm(across, axis=1) / np.linalg.norm(B, axis=1)).max()
    return row + [f"{worst:.1e}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rigcal", type=Path, required=True)
    parser.add_argument("--robots", type=Path, required=True, help="folder to look for URDF files in")
    parser.add_argument("--robot", action="append", help="stem of a file; may be repeated")
    arguments = parser.parse_args()
    files = {path.stem: path for path in sorted(arguments.robots.rglob("*.urdf"))}
    print("| robot | joints | rank of Pinocchio's regressor | base parameters of rigcal | largest share "
          "of a combination across it |")
    print("|---|---:|---:|---:|---:|")
    differ = False
    for name in arguments.robot or PICKED:
        if name not in files:
            print(f"{name}: no such file under {arguments.robots}", file=sys.stderr)
            continue
        row = compare(arguments.rigcal, files[name])
        differ |= row[2] != row[3]
        print("| " + " | ".join(row) + " |", flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
