"""Recordings as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rigcal import _rigcal
from rigcal._display import Displayed
from rigcal._request import make_request
from rigcal._table import RecordingLike
from rigcal.errors import InputError
from rigcal.rig import RigLike


@dataclass(frozen=True, repr=False)
class Segment(Displayed):
    """Part of a recording that has no gaps."""

    time: NDArray[np.float64]  #: time of each row [s]
    readings: NDArray[np.float64]  #: rows × encoders, in `units`; NaN: no reading
    control: NDArray[np.float64]  #: rows × motors, in the control's unit; zero-order hold

    def __repr__(self) -> str:
        span = f"{self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self.time) else "empty"
        return (f"Segment({len(self.time)} rows, {span}, {self.readings.shape[1]} encoders, "
                f"{self.control.shape[1]} motors)")


@dataclass(frozen=True, repr=False)
class Recording(Displayed):
    """Recording as imported for the estimator, before any repair."""

    name: str
    sensors: list[str]  #: names of the columns of readings
    units: list[str]  #: units of these columns: "rad", or "m" for prismatic joints
    motors: list[str]  #: names of the columns of control
    period: float  #: sampling period [s]; the mean if it varies
    rows: int  #: number of rows in the file
    segments: list[Segment]
    notes: list[str] = field(default_factory=list)  #: notes of the import

    def to_frame(self) -> pd.DataFrame:
        """Returns a table of all segments: segment, time [s], encoders in `units`, controls."""
        parts = []
        for index, segment in enumerate(self.segments):
            part = pd.DataFrame({"segment": index, "time": segment.time})
            part[self.sensors] = segment.readings
            part[[f"control of {motor}" for motor in self.motors]] = segment.control
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def _table_shown(self) -> pd.DataFrame:
        return pd.DataFrame([(part.time[0], part.time[-1], len(part.time))
                             for part in self.segments], columns=["start [s]", "end [s]", "rows"])

    def __repr__(self) -> str:
        return (f"Recording('{self.name}', {self.rows} rows, {len(self.segments)} segments, "
                f"period {self.period:.6g} s, encoders {', '.join(self.sensors)})")


def load_recording(recording: RecordingLike, rig: RigLike, *, from_: float | None = None,
                   to: float | None = None, segments: Any = None) -> Recording:
    """Imports a recording as a calibration does: converts units, and cuts segments at gaps.

    Raises:
        InputError: for invalid input; the message gives file, line, field and remedy.
    """
    if isinstance(recording, (list, tuple)):
        raise InputError("load_recording accepts one recording; call it once per recording")
    read = _rigcal.load_recording(
        make_request(recording, rig, from_=from_, to=to, segments=segments))
    stretches = [Segment(**segment) for segment in read.pop("segments")]
    return Recording(segments=stretches, **read)
