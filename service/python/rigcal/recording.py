"""Recordings as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rigcal import _rigcal
from rigcal._request import RecordingLike, make_request
from rigcal.errors import InputError
from rigcal.rig import RigLike


@dataclass(frozen=True)
class Segment:
    """A stretch of a recording without a gap."""

    time: NDArray[np.float64]  #: of the rows [s]
    readings: NDArray[np.float64]  #: rows × encoders, in `units`; NaN where nothing was read
    control: NDArray[np.float64]  #: rows × motors, in the control's unit; held until the next row


@dataclass(frozen=True)
class Recording:
    """A recording as the estimator sees it, before anything is repaired."""

    name: str
    sensors: list[str]  #: of the columns of readings
    units: list[str]  #: of the same: "rad", "m" of what slides
    motors: list[str]  #: of the columns of control
    period: float  #: sampling period [s]; the mean one where it varies
    rows: int  #: in the file
    segments: list[Segment]
    notes: list[str] = field(default_factory=list)  #: what the import has to tell

    def to_frame(self) -> pd.DataFrame:
        """All segments as one table: segment, time [s], encoders in `units`, controls."""
        parts = []
        for index, segment in enumerate(self.segments):
            part = pd.DataFrame({"segment": index, "time": segment.time})
            part[self.sensors] = segment.readings
            part[[f"control of {motor}" for motor in self.motors]] = segment.control
            parts.append(part)
        return pd.concat(parts, ignore_index=True)


def load_recording(recording: RecordingLike, rig: RigLike, *, from_: float | None = None,
                   to: float | None = None, segments: Any = None) -> Recording:
    """Reads a recording as a calibration would: units converted, cut at gaps, nothing invented.

    Raises:
        InputError: naming file, line and field, and what to do.
    """
    if isinstance(recording, (list, tuple)):
        raise InputError("load_recording takes one recording; call it for each")
    read = _rigcal.load_recording(
        make_request(recording, rig, from_=from_, to=to, segments=segments))
    stretches = [Segment(**segment) for segment in read.pop("segments")]
    return Recording(segments=stretches, **read)
