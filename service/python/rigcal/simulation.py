"""Simulation of rigs."""

from __future__ import annotations

import io
import os
from typing import Union

import pandas as pd

from rigcal import _rigcal
from rigcal._request import ParametersLike, Values, make_model_request, positive
from rigcal.errors import InputError, format_argument
from rigcal.rig import RigLike, read_text


def simulate(rig: RigLike, scenario: Union[str, os.PathLike[str]], *,
             parameters: ParametersLike = None, start: Values = (),
             step: float = 1e-4) -> pd.DataFrame:
    """Simulates a scenario like `rigcal simulate`.

    Uses the SPOOK time stepper if it supports all joints, otherwise the equations of motion.

    Args:
        rig: path, text, or Rig.
        scenario: path of a scenario file (proto/scenario.proto), or its text.
        parameters: values from a Result, its file, or a mapping; default: the rig file's values.
        start: values by name, which override the values of `parameters`.
        step: time step h [s], which divides the sampling period; a longer step replaces it.

    Returns:
        The simulated run as a table that `calibrate` accepts, with the columns that the rig file
        names. `attrs["notes"]` reports limits that were reached.

    Raises:
        InputError: for invalid input; the message gives file, line, field and remedy.
    """
    if isinstance(scenario, str) and ("\n" in scenario or "{" in scenario):
        name, text = "scenario", scenario
    elif not isinstance(scenario, (str, os.PathLike)):
        raise InputError(f"scenario is {format_argument(scenario)}; give the path of a scenario file, or its "
                         "text")
    else:
        name, text = os.fspath(scenario), read_text(scenario, "a scenario file")
    request = make_model_request(rig, parameters=parameters, start=start)
    run = _rigcal.simulate(request, name, text, positive(step, "step", " [s]"))
    frame = pd.read_csv(io.StringIO(run["csv"]), float_precision="round_trip")
    frame.attrs.update(name=f"run of {os.path.basename(name)}", notes=run["notes"], period=run["period"],
                       step=run["step"])
    return frame
