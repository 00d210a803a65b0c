"""Rigs and their files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rigcal import _rigcal
from rigcal._display import Displayed
from rigcal.dynamics import Linearization, Motion, command_rows, vector
from rigcal.errors import InputError, format_argument

if TYPE_CHECKING:
    from rigcal._request import ParametersLike, Values


def read_text(path: Union[str, os.PathLike[str]], what: str) -> str:
    """Returns the text of a file. Error messages name `what`, the expected kind of file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{os.fspath(path)}: cannot be opened: {error.strerror}; give the path of {what}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)}: is not UTF-8 text; give {what}") from None


class Rig(Displayed):
    """Mechanism with its parameter values, read from a rig file (docs/reference/rig-file.md).

    The methods `simulate`, `dynamics`, `mass_matrix` and `linearize` use the equations of motion
    with which `calibrate` estimates physical parameters, at the rig's parameter values. q, v and u
    are the coordinates and speeds of all `joints` [rad, rad/s; prismatic: m, m/s] and the controls
    of all `motors` [unit of the control]. Each is an array, numbers by name (others are zero), or
    None for zero. In a rig with closed loops or gears, numbers by name in q move only the named
    joints, and all other joints follow; nonzero speeds in v determine the other speeds.

    Args:
        source: path of a rig file, or its text.
        name: name for messages if `source` is text.
    """

    def __init__(self, source: Union[str, os.PathLike[str]], name: str = "rig") -> None:
        if not isinstance(source, (str, os.PathLike)):
            raise InputError(f"source is {format_argument(source)}; give the path of a rig file, or its text")
        if isinstance(source, str) and ("\n" in source or "{" in source):
            self.path, self.text = name, source
        else:
            self.path, self.text = os.fspath(source), read_text(source, "a rig file")
        self._facts = _rigcal.Rig(self.path, self.text)
        self._dynamics: Any = None  # made when needed

    @property
    def name(self) -> str:
        """Name of the rig, or the path of its file if it has no name."""
        return self._facts.name or self.path

    @property
    def columns(self) -> list[str]:
        """Names of the columns of recordings, from the block "recording" of the rig file."""
        return self._facts.columns

    @property
    def sensors(self) -> list[str]:
        """Names of the rig's encoders, in the order of their columns in a recording."""
        return self._facts.sensors

    @property
    def joints(self) -> list[str]:
        """Names of all joints that move, in the order of q and v."""
        return [name for name, _ in self._facts.joints]

    @property
    def units(self) -> list[str]:
        """Unit of each joint's coordinate: "rad", or "m" for prismatic joints."""
        return [unit for _, unit in self._facts.joints]

    @property
    def motors(self) -> list[str]:
        """Names of the driven joints, in the order of their command columns in a recording."""
        return self._facts.motors

    @property
    def parameters(self) -> pd.DataFrame:
        """Table of the value, unit, bounds and prior of each parameter, and whether it is free."""
        return pd.DataFrame(self._facts.parameters).set_index("name")

    def with_parameters(self, parameters: ParametersLike = None, *, start: Values = ()) -> Rig:
        """Returns a copy of this rig with other parameter values. Bounds and priors do not change.

        Args:
            parameters: a Result, its file, or numbers by name.
            start: further numbers by name, which override values of `parameters`.

        Raises:
            InputError: for an unknown name, or a value out of bounds.
        """
        from rigcal._request import make_model_request

        request = make_model_request(self, parameters=parameters, start=start)
        return Rig(_rigcal.rig_text_with_values(request), self.path)

    def assemble(self, q: Any = None) -> NDArray[np.float64]:
        """Returns coordinates of all joints at which all loops are closed [rad or m].

        Args:
            q: wanted coordinates by name, or an array with NaN for joints with any coordinate.
                Such joints are at zero without loops and gears, and near equilibrium otherwise.

        Raises:
            InputError: if the loops cannot be closed with these coordinates.
        """
        wanted = vector(q, "q", self.joints, "joint", math.nan)
        assembled: NDArray[np.float64] = self._equations().assemble(wanted)
        return assembled

    def dynamics(self, q: Any, v: Any = None, u: Any = None) -> NDArray[np.float64]:
        """Returns the accelerations of all joints [rad/s²; m/s² if prismatic].

        A joint at rest (v = 0) has no acceleration if Coulomb friction can hold it, or if it is
        pushed against its end stop. The control acts without the motor's delay.

        Raises:
            InputError: for a wrong shape, an unknown name, NaN, open loops, or a position beyond an
                end stop.
        """
        accelerations: NDArray[np.float64] = self._equations().accelerations(*self._point(q, v, u))
        return accelerations

    def mass_matrix(self, q: Any = None) -> pd.DataFrame:
        """Returns the mass matrix, including motor rotors, as a table with names of joints.

        Units are kg·m² for revolute joints, kg for prismatic joints, and kg·m between the two. With
        loops or gears, rigcal chooses as many joints as the rig has degrees of freedom, and the
        matrix applies to their accelerations.

        Raises:
            InputError: as `dynamics`.
        """
        matrix, names = self._equations().mass_matrix(self._position(q))
        return pd.DataFrame(matrix, names, names)

    def linearize(self, q: Any, v: Any = None, u: Any = None, *,
                  period: Optional[float] = None) -> Linearization:
        """Returns the linear model of the motion about q, v and u; `A, B = rig.linearize(...)`.

        The derivatives are exact. Coulomb friction is discontinuous at rest: the model omits the
        Coulomb friction of joints at rest, and lists these joints in `frictionless`. Smoothed
        friction (`transition_speed`) is part of the model. The model ignores end stops and the
        delays of motors.

        Args:
            period: sampling period of a discrete model with a constant control [s]; default: a
                continuous model. Moving joints keep their direction of slip during the period.

        Raises:
            InputError: as `dynamics`; also for a period that is not positive.
        """
        from rigcal._request import positive

        length = 0.0 if period is None else positive(period, "period", " [s]")
        model = self._equations().linearize(*self._point(q, v, u), length)
        return Linearization(**model, motors=self.motors, period=None if period is None else length)

    def simulate(self, commands: Any, period: float, q: Any = None, v: Any = None, *,
                 step: float = 1e-3) -> Motion:
        """Simulates the motion from the state q, v with one command per sampling period.

        Each command lasts for one period, and acts after the delay of its motor. The simulation
        includes friction, end stops and loops, but not sensors, noise and command limits.

        Args:
            commands: array of samples × motors, or samples for one motor; or a DataFrame with a
                column for each motor [unit of the control].
            period: sampling period [s].
            step: longest step of the fourth-order integration [s].

        Returns:
            N + 1 states for N commands.

        Raises:
            InputError: as `dynamics`; also for a motion that cannot be integrated.
        """
        from rigcal._request import positive

        rows = command_rows(commands, self.motors)
        length = positive(period, "period", " [s]")
        position = self._position(q)
        speed = vector(v, "v", self.joints, "joint")
        coordinates, speeds, notes = self._equations().simulate(
            rows, length, position, speed, positive(step, "step", " [s]"))
        return Motion(np.arange(len(coordinates)) * length, coordinates, speeds, rows, self.joints,
                      self.units, self.motors, notes)

    def _equations(self) -> Any:
        if self._dynamics is None:
            self._dynamics = _rigcal.Dynamics(self._facts)
        return self._dynamics

    def _position(self, q: Any) -> NDArray[np.float64]:
        named = q is None or isinstance(q, (Mapping, pd.Series))
        return self.assemble(q) if named else vector(q, "q", self.joints, "joint")

    def _point(self, q: Any, v: Any, u: Any) -> tuple[NDArray[np.float64], ...]:
        return (self._position(q), vector(v, "v", self.joints, "joint"),
                vector(u, "u", self.motors, "motor"))

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return (_rebuild, (self.path, self.text))

    def _table_shown(self) -> pd.DataFrame:
        table = self.parameters
        return table.loc[table["free"], ["value", "unit", "lower", "upper"]]

    def __repr__(self) -> str:
        free = int(self.parameters["free"].sum())
        return f"Rig('{self.name}', {len(self.sensors)} encoders, {free} free parameters)"


def _rebuild(path: str, text: str) -> Rig:
    rig = Rig.__new__(Rig)
    rig.path, rig.text = path, text
    rig._facts = _rigcal.Rig(path, text)
    rig._dynamics = None
    return rig


#: A rig: the path or the text of a rig file, or a Rig.
RigLike = Union[str, "os.PathLike[str]", Rig]


def as_rig(rig: RigLike) -> Rig:
    if not isinstance(rig, (str, os.PathLike, Rig)):
        raise InputError(f"rig is {format_argument(rig)}; give the path of a rig file, its text, or a Rig")
    return rig if isinstance(rig, Rig) else Rig(rig)
