"""Motions and linear models of rigs, for the design of controllers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rigcal._display import Displayed
from rigcal.errors import InputError, format_argument

Vector = NDArray[np.float64]


def numbers(value: ArrayLike, what: str) -> Vector:
    """Returns a value as an array of floats; raises InputError otherwise."""
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            array = array.astype(float)
        if array.dtype.kind in "biuf":
            return array.astype(float)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{what} is {format_argument(value)}; give an array of numbers")


def suggestion(name: str, known: Sequence[str]) -> str:
    """Returns a hint for an unknown name: the most similar known name, or all known names."""
    near = get_close_matches(name, known, 1)
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known) or 'none'}"


def vector(value: Any, what: str, names: Sequence[str], of: str, missing: float = 0.0) -> Vector:
    """Returns one finite number for each name, from an array, or from numbers by name.

    Args:
        of: kind of the names for messages, "joint" or "motor".
        missing: number for names that the mapping lacks, and for all names if `value` is None.
    """
    if value is None:
        return np.full(len(names), missing)
    if isinstance(value, (Mapping, pd.Series)):
        vector_ = np.full(len(names), missing)
        for name, each in value.items():
            if name not in names:
                raise InputError(f"{what}: the rig has no {of} '{name}'; "
                                 f"{suggestion(str(name), names)}")
            entry = numbers(each, f"{what}['{name}']")
            if entry.ndim != 0:
                raise InputError(f"{what}['{name}'] has the shape {entry.shape}; give one number")
            vector_[list(names).index(name)] = float(entry)
    else:
        vector_ = numbers(value, what)
        if vector_.ndim == 0 and len(names) == 1:
            vector_ = vector_.reshape(1)
        if vector_.shape != (len(names),):
            expected = ", ".join(names) if names else f"the rig has no {of}s"
            raise InputError(f"{what} has the shape {vector_.shape}; give an array with one number "
                             f"for each {of} ({expected})")
    for name, each in zip(names, vector_):
        if not math.isfinite(each) and not (math.isnan(each) and math.isnan(missing)):
            raise InputError(f"{what} is {each} for {of} '{name}'; give a finite number")
    return vector_


def command_rows(value: Any, motors: Sequence[str]) -> Vector:
    """Returns commands as an array, samples × motors."""
    if isinstance(value, pd.DataFrame):
        unknown = [str(name) for name in value.columns if name not in motors]
        if unknown:
            raise InputError(f"commands: the rig has no motor '{unknown[0]}'; "
                             f"{suggestion(unknown[0], motors)}")
        value = value.reindex(columns=list(motors), fill_value=0.0)
    rows = numbers(value, "commands")
    if rows.ndim == 1 and len(motors) == 1:
        rows = rows.reshape(-1, 1)
    if rows.ndim != 2 or rows.shape[1] != len(motors) or len(rows) == 0:
        raise InputError(f"commands has the shape {rows.shape}; give an array of samples × "
                         f"motors, with one column for each motor "
                         f"({', '.join(motors) or 'the rig has none'})")
    if not np.isfinite(rows).all():
        row, motor = np.argwhere(~np.isfinite(rows))[0]
        raise InputError(f"commands is {rows[row, motor]} in row {row} for motor '{motors[motor]}'; "
                         "give finite numbers")
    return rows


@dataclass(frozen=True, repr=False)
class Motion(Displayed):
    """Simulated motion of a rig: state k+1 follows from state k and command k."""

    time: Vector  #: [s], N + 1 samples from 0
    q: Vector  #: coordinates, (N + 1) × joints, unwrapped [rad; m if prismatic]
    v: Vector  #: speeds, (N + 1) × joints [rad/s or m/s]
    u: Vector  #: commands before the motors' delays, N × motors [unit of the control]
    joints: list[str]  #: names of the columns of q and v
    units: list[str]  #: units of the columns of q
    motors: list[str]  #: names of the columns of u
    notes: list[str] = field(default_factory=list)

    def to_frame(self) -> pd.DataFrame:
        """Returns a table of time [s], "q of JOINT", "v of JOINT" and "u of MOTOR".

        The last sample has no command: its u is NaN.
        """
        u = np.vstack([self.u, np.full((1, len(self.motors)), np.nan)])
        columns = {"time": self.time}
        for letter, names, values in (("q", self.joints, self.q), ("v", self.joints, self.v),
                                      ("u", self.motors, u)):
            columns.update({f"{letter} of {name}": values[:, i] for i, name in enumerate(names)})
        return pd.DataFrame(columns)

    def _table_shown(self) -> pd.DataFrame:
        frame = self.to_frame()
        return frame if len(frame) <= 10 else frame.iloc[[0, 1, 2, -3, -2, -1]]

    def __repr__(self) -> str:
        return (f"Motion({len(self.time)} samples, 0 to {self.time[-1]:.6g} s, "
                f"joints {', '.join(self.joints)})")


@dataclass(frozen=True, repr=False)
class Linearization(Displayed):
    """Linear model of a rig about an operating point; unpacks as `A, B`.

    With the deviations δx and δu from the operating point, the model is ẋ = f + A δx + B δu, or
    with a sampling period x(t + period) = f + A δx + B δu. The state x consists of the coordinates
    of `joints` [rad; m if prismatic], followed by their speeds.
    """

    A: Vector  #: derivatives with respect to the state, 2c × 2c for c joints
    B: Vector  #: derivatives with respect to the controls, 2c × motors
    f: Vector  #: ẋ at the operating point, or the state one period later, 2c
    joints: list[str]  #: joints that form the state; not all joints if there are loops or gears
    motors: list[str]  #: names of the columns of B
    period: Optional[float]  #: sampling period [s]; None: continuous
    #: joints at rest; the model omits their Coulomb friction, which has no derivative at rest
    frictionless: list[str] = field(default_factory=list)

    @property
    def states(self) -> list[str]:
        """Names of the elements of the state: "q of JOINT", then "v of JOINT"."""
        return [f"{letter} of {joint}" for letter in "qv" for joint in self.joints]

    def __iter__(self) -> Iterator[Vector]:
        return iter((self.A, self.B))

    def _table_shown(self) -> pd.DataFrame:
        return pd.DataFrame(np.hstack([self.A, self.B, self.f.reshape(-1, 1)]), self.states,
                            self.states + [f"u of {motor}" for motor in self.motors] + ["f"])

    def __repr__(self) -> str:
        kind = "continuous" if self.period is None else f"sampled every {self.period:.6g} s"
        left_out = (f", without the Coulomb friction of {', '.join(self.frictionless)}"
                    if self.frictionless else "")
        return (f"Linearization({kind}, {len(self.A)} states, {self.B.shape[1]} controls"
                f"{left_out})")
