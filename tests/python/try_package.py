"""Calibrates simulated swings with an installed package, and checks the parameters."""

import sys
from pathlib import Path

import rigcal
import rigcal.messages.service_pb2

configs = Path(sys.argv[1])
rig = rigcal.Rig(configs / "rig-pendulum.textproto")
run = rigcal.simulate(rig, configs / "scenario-pendulum-release.textproto", step=1e-3,
                      start={"pendulum.J_zz": 0.0043})
result = rigcal.calibrate(run[run["t_s"] <= 4.0], rig)
assert "site-packages" in rigcal.__file__, rigcal.__file__
assert result.converged, result.table()
assert abs(result.parameters.loc["pendulum.J_zz", "value"] / 0.0043 - 1.0) < 0.01
print(f"rigcal {rigcal.__version__} from {rigcal.__file__}: {result!r}")
