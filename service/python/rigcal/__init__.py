"""Calibration of rigs from recordings of their motion.

    >>> import rigcal
    >>> result = rigcal.calibrate("run.csv", "rig.textproto")
    >>> result.parameters

See docs/python.md.
"""

from rigcal._rigcal import __version__
from rigcal.aio import AsyncClient
from rigcal.client import Client
from rigcal.dynamics import Linearization, Motion
from rigcal.errors import FaultyInput, Finding, InputError, ServiceError
from rigcal.estimation import calibrate, check, crossvalidate, validate
from rigcal.recording import Recording, Segment, load_recording
from rigcal.result import (CrossValidation, Estimate, Examination, Result, Trajectory, Validation,
                           Verdict)
from rigcal.rig import Rig
from rigcal.simulation import simulate

__all__ = [
    "AsyncClient", "Client", "CrossValidation", "Estimate", "Examination", "FaultyInput", "Finding",
    "InputError", "Linearization", "Motion", "Recording", "Result", "Rig", "Segment",
    "ServiceError", "Trajectory", "Validation", "Verdict", "__version__", "calibrate", "check",
    "crossvalidate", "load_recording", "simulate", "validate",
]
