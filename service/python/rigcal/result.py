"""Results of calibrations and related commands."""

from __future__ import annotations

import html
import json
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rigcal import _rigcal
from rigcal._display import Displayed
from rigcal.dynamics import suggestion
from rigcal.errors import Finding, InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rigcal.rig import Rig


@dataclass(frozen=True, repr=False)
class Trajectory(Displayed):
    """Measured readings of one segment, and readings predicted by estimation and simulation."""

    recording: str
    time: NDArray[np.float64]  #: [s]
    measured: NDArray[np.float64]  #: samples × sensors, in the sensors' units; NaN: missing
    estimated: NDArray[np.float64]  #: readings predicted from the estimated states
    simulated: NDArray[np.float64]  #: open-loop simulation from the estimated initial state
    control: NDArray[np.float64]  #: samples × motors

    def __repr__(self) -> str:
        span = f"{self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self.time) else "empty"
        return f"Trajectory('{self.recording}', {len(self.time)} samples, {span})"


@dataclass(frozen=True)
class Verdict(Displayed):
    """Assessment of how well the fitted model agrees with the recordings."""

    kind: str  #: "accepted", "doubtful", "approximate", "rejected", "no-fit"
    sentence: str
    #: largest relative error of the model's predictions: root mean square, divided by the standard
    #: deviation of an encoder's readings, or by the root mean square of a torque or acceleration
    relative_error: float = float("nan")
    horizon: float = float("nan")  #: longest predicted time [s]
    #: "open-loop" (whole segments), "short-term" (from estimated states), "torque" (along the
    #: motion), or "acceleration" (no simulation predicts the motion)
    prediction: str = ""

    def __str__(self) -> str:
        return self.sentence


class Estimate(float):
    """Value of a parameter, usable as a number, with its uncertainty and unit."""

    name: str
    standard_deviation: float  #: in `unit`; infinite: not identifiable; 0: fixed
    half_interval: float  #: half-width of the 95 % confidence interval, in `unit`
    unit: str

    def __new__(cls, name: str, value: float, standard_deviation: float, half_interval: float,
                unit: str) -> Estimate:
        estimate = super().__new__(cls, value)
        estimate.name, estimate.unit = name, unit
        estimate.standard_deviation, estimate.half_interval = standard_deviation, half_interval
        return estimate

    def __getnewargs__(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self.name, float(self), self.standard_deviation, self.half_interval, self.unit)

    def __repr__(self) -> str:
        (shown,) = _rigcal.make_table_notations([float(self)], [self.standard_deviation],
                                                [self.unit])
        return f"{self.name} = {shown.value} ± {shown.deviation} {shown.unit}".rstrip()

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(repr(self))}</b>"


_PARAMETER_FIELDS = {"value": "value", "standard_deviation": "standardDeviation",
                     "noise": "noiseDeviation", "scatter": "scatterDeviation",
                     "half_interval": "halfInterval", "lower": "lower", "upper": "upper",
                     "initial": "initial", "data_value": "dataValue",
                     "data_deviation": "dataStandardDeviation"}


def _number_frame(entries: Sequence[Mapping[str, Any]], fields: Mapping[str, str],
                  key: str) -> pd.DataFrame:
    """Returns a table of numbers by parameter, from the fields of JSON objects; NaN if missing."""
    return pd.DataFrame({column: [float(entry.get(field, "nan")) for entry in entries]
                         for column, field in fields.items()},
                        pd.Index([entry[key] for entry in entries], name="parameter"))


def parameter_frame(entries: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Returns a table of parameters by name from the JSON of rigcal.v1.ParameterResult."""
    frame = _number_frame(entries, _PARAMETER_FIELDS, "name")
    frame.insert(5, "unit", [entry["unit"] for entry in entries])
    frame.insert(8, "at_bound", [bool(entry["atBound"]) for entry in entries])
    return frame


class ResultBase(Displayed):
    """Base class of all results: JSON document, and text and report unless loaded from JSON."""

    def __init__(self, document: Mapping[str, Any], *, text: Optional[str] = None,
                 table: Optional[str] = None, page: Optional[str] = None) -> None:
        self.document = document  #: the JSON of `--json`, as Python types
        self._text = text
        self._table = table
        self._page = page

    @property
    def notes(self) -> list[str]:
        """Notes on automatic choices, omitted data, and warnings."""
        return list(self.document.get("notes", ()))

    @property
    def converged(self) -> bool:
        return bool(self.document.get("converged", False))

    def table(self) -> str:
        """Returns the result as the text table that the command `rigcal` prints."""
        if self._table is None:
            raise InputError("a result loaded from JSON has no table; print its parameters")
        return self._table

    @overload
    def to_json(self) -> str: ...

    @overload
    def to_json(self, path: Union[str, os.PathLike[str]]) -> None: ...

    def to_json(self, path: Union[None, str, os.PathLike[str]] = None) -> Optional[str]:
        """Writes the JSON of `rigcal --json` to `path`, or returns its text without `path`."""
        text = json.dumps(self.document, indent=1) if self._text is None else self._text
        if path is None:
            return text
        Path(path).write_text(text, encoding="utf-8")
        return None

    def report(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the report of `rigcal --plot`: an HTML file without external resources."""
        if self._page is None:
            raise InputError("a result loaded from JSON has no report; calibrate again, or "
                             "request it from the service")
        Path(path).write_text(self._page, encoding="utf-8")

    def __str__(self) -> str:
        return self.to_json() if self._table is None else self._table


class Result(ResultBase):
    """Result of a calibration."""

    def __init__(self, document: Mapping[str, Any], *, trajectories: Sequence[Trajectory] = (),
                 sensors: Sequence[tuple[str, str]] = (), controls: Sequence[str] = (),
                 **texts: Optional[str]) -> None:
        super().__init__(document, **texts)
        self.trajectories = list(trajectories)  #: one per segment; empty if not computed here
        self.sensors = list(sensors)  #: name and unit of each sensor column of the trajectories
        self.controls = list(controls)  #: names of the control columns of the trajectories

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Result:
        """Loads a calibration result from a file of `to_json` or `rigcal calibrate --json`."""
        name = os.fspath(path)
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}; give the JSON of a calibration") from None
        except ValueError as error:
            raise InputError(f"{name}: is not JSON; give the output of rigcal calibrate --json "
                             f"({error})") from None
        if not isinstance(document, dict) or "covariance" not in document:
            raise InputError(f"{name}: has no parameters; give the output of rigcal calibrate "
                             "--json")
        return cls(document)

    def keys(self) -> list[str]:
        """Returns the names of all parameters: estimated, dependent, and fixed at new values.

        `dict(result)` gives the estimates by name.
        """
        return [entry["name"] for kind in ("parameters", "dependent", "fixed")
                for entry in self.document.get(kind, ())]

    def __getitem__(self, name: str) -> Estimate:
        """Returns a parameter by its name. Raises InputError if the name is unknown."""
        for kind in ("parameters", "dependent", "fixed"):
            for entry in self.document.get(kind, ()):
                if entry["name"] == name:
                    return Estimate(name, float(entry["value"]),
                                    float(entry.get("standardDeviation", 0.0)),
                                    float(entry.get("halfInterval", 0.0)), entry["unit"])
        raise InputError(f"the result has no parameter {name!r}; "
                         f"{suggestion(str(name), self.keys())}")

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def sample(self, count: int, seed: Optional[int] = None) -> pd.DataFrame:
        """Returns random parameter values from the estimates and their covariance.

        Each row is one normally distributed sample within the bounds of all parameters. Parameters
        that are not identifiable keep their estimates, with a UserWarning. `rig.with_parameters`
        and the argument `start` accept a row.

        Args:
            count: number of rows.
            seed: seed of the random numbers; default: a different seed each time.

        Returns:
            A column for each estimated parameter, in its unit.

        Raises:
            InputError: if fewer than one in a thousand samples are within the bounds.
        """
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 1:
            raise InputError(f"count is {count!r}; give a whole number > 0")
        found = self.parameters
        values = found["value"].to_numpy()
        deviations = found["standard_deviation"].to_numpy()
        known = np.isfinite(deviations) & (deviations > 0.0)
        infinite = list(found.index[~np.isfinite(deviations)])
        if infinite:
            warnings.warn(f"not identifiable and therefore kept: {', '.join(infinite)}",
                          stacklevel=2)
        scale = deviations[known]
        shape = self.covariance.to_numpy()[np.ix_(known, known)] / np.outer(scale, scale)
        weights, axes = np.linalg.eigh(0.5 * (shape + shape.T))
        root = axes * np.sqrt(np.maximum(weights, 0.0))
        lower, upper = found["lower"].to_numpy()[known], found["upper"].to_numpy()[known]
        random = np.random.default_rng(seed)
        kept: list[NDArray[np.float64]] = []
        have = 0
        for _ in range(1000):
            drawn = values[known] + random.standard_normal((count, len(scale))) @ root.T * scale
            inside = drawn[((drawn >= lower) & (drawn <= upper)).all(axis=1)]
            kept.append(inside)
            have += len(inside)
            if have >= count:
                break
        else:
            raise InputError("fewer than one in a thousand samples are within the bounds of all "
                             "parameters; fix the parameters at their bounds and calibrate again")
        samples = np.tile(values, (int(count), 1))
        samples[:, known] = np.vstack(kept)[:count]
        return pd.DataFrame(samples, columns=found.index.to_list())

    def rig(self) -> Rig:
        """Returns the rig with the estimated values."""
        from rigcal.rig import Rig

        text, _ = self._rig_text("rig", False)
        return Rig(text, str(self.document.get("provenance", {}).get("rig", {}).get("path", "rig")))

    def write_rig(self, path: Union[str, os.PathLike[str]], *, priors: bool = False) -> list[str]:
        """Writes the rig file with the estimated values, like `--rig-out`.

        Args:
            priors: also write the estimates and their standard deviations as priors.

        Returns:
            Notes on values that the file cannot contain.

        Raises:
            InputError: for a result of an older rigcal, which lacks the rig file.
            OSError: if the file cannot be written.
        """
        return self._write(path, "rig", priors)

    def write_urdf(self, path: Union[str, os.PathLike[str]]) -> list[str]:
        """Writes the rig with the estimated values as URDF, like `--urdf-out`; returns notes."""
        return self._write(path, "urdf", False)

    def write_mjcf(self, path: Union[str, os.PathLike[str]]) -> list[str]:
        """Writes the rig with the estimated values as MJCF, like `--mjcf-out`; returns notes."""
        return self._write(path, "mjcf", False)

    def _rig_text(self, form: str, priors: bool) -> tuple[str, list[str]]:
        return _rigcal.calibrated_rig_text(self.to_json(), form, priors)

    def _write(self, path: Union[str, os.PathLike[str]], form: str, priors: bool) -> list[str]:
        text, notes = self._rig_text(form, priors)
        Path(path).write_text(text, encoding="utf-8")
        return notes

    @property
    def parameters(self) -> pd.DataFrame:
        """Table of the estimated parameters, with a row for each.

        If parts of the recordings disagree, `standard_deviation` is the larger of `noise` and
        `scatter`. Standard deviations are infinite for unidentifiable parameters. `data_value` and
        `data_deviation` are the estimate without priors; NaN if the rig file has no priors.
        """
        return parameter_frame(self.document["parameters"])

    @property
    def dependent(self) -> pd.DataFrame:
        """Table of parameters that depend on estimated parameters by dependencies in the rig file."""
        return parameter_frame(self.document.get("dependent", ()))

    @property
    def covariance(self) -> pd.DataFrame:
        """Covariance matrix of the free parameters, with their names as row and column labels."""
        return self._matrix("covariance")

    @property
    def correlation(self) -> pd.DataFrame:
        """Correlation matrix of the free parameters, with their names as row and column labels."""
        return self._matrix("correlation")

    @property
    def verdict(self) -> Verdict:
        reported = self.document.get("verdict") or {}
        return Verdict(
            reported.get("kind", ""),
            reported.get("sentence", ""),
            float(reported.get("relativeError", "nan")),
            float(reported.get("horizonS", "nan")),
            reported.get("prediction", ""),
        )

    @property
    def findings(self) -> list[Finding]:
        """Findings about the recordings and the rig file."""
        return [Finding._from_json(finding) for finding in self.document.get("findings", ())]

    @property
    def simulation(self) -> pd.Series:
        """Root mean square error of the open-loop simulation, by joint [rad; m if prismatic]."""
        rows = self.document["simulation"]
        return pd.Series([float(row.get("rmseM", row["rmseRad"])) for row in rows],
                         index=pd.Index([row["joint"] for row in rows], name="joint"), name="rmse")

    @property
    def options(self) -> Mapping[str, Any]:
        """Options as the caller requested them, or as the calibration chose them."""
        options: Mapping[str, Any] = self.document["options"]
        return options

    def plot(self, segments: Optional[Sequence[int]] = None) -> Figure:
        """Plots the readings, simulation and difference of each sensor, and parameter intervals.

        Args:
            segments: indices into `trajectories`; default: the first four.
        """
        from rigcal.figure import draw_result

        return draw_result(self, segments)

    def _matrix(self, name: str) -> pd.DataFrame:
        names = pd.Index([entry["name"] for entry in self.document["parameters"]], name="parameter")
        rows = [[float(value) for value in row["values"]] for row in self.document[name]]
        return pd.DataFrame(np.array(rows).reshape(len(names), len(names)), names, names)

    def _values(self) -> list[tuple[str, str, float]]:
        """Returns name, unit and value of all estimated, then of all dependent parameters."""
        entries = list(self.document["parameters"]) + list(self.document.get("dependent", ()))
        return [(entry["name"], entry["unit"], float(entry["value"])) for entry in entries]

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return (f"Result({len(self.document['parameters'])} parameters, {state}, "
                f"verdict '{self.verdict.kind}')")

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        table: str = self._table_shown().to_html()
        return (f"<p><b>{html.escape(self.verdict.sentence)}</b></p>"
                + table + _list_as_html(self.findings)
                + (f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else ""))

    def _table_shown(self) -> pd.DataFrame:
        """Returns the estimates as texts, in the notation of `table()`."""
        found = self.parameters
        notations = _rigcal.make_table_notations(
            found["value"].tolist(), found["standard_deviation"].tolist(), found["unit"].tolist())
        of_interval = ["value", "standard_deviation", "half_interval", "lower", "upper", "at_bound"]
        cells = [(each.value, each.deviation, each.interval(**row), each.number(initial), each.unit)
                 for each, row, initial in zip(
                     notations, found[of_interval].to_dict("records"), found["initial"])]
        shown = pd.DataFrame(cells, found.index.rename(None),
                             ["value", "± sd", "95 % interval", "initial", "unit"])
        return shown.rename_axis(columns="parameter")


def _list_as_html(findings: Sequence[Finding]) -> str:
    """Returns a list of findings with their advice, in HTML; empty without findings."""
    items = [f"<li><b>{html.escape(each.severity)}</b>: {html.escape(each.what)}"
             + (f"<br>to do: {html.escape(each.advice)}" if each.advice else "") + "</li>"
             for each in findings]
    return f"<p>Findings</p><ul>{''.join(items)}</ul>" if items else ""


class CrossValidation(ResultBase):
    """Result of a cross-validation: each part of the data is predicted from all other parts."""

    @property
    def parts(self) -> list[str]:
        return list(self.document["parts"])

    @property
    def parameters(self) -> pd.DataFrame:
        """Table over the folds: means, jackknife and mean reported standard deviations."""
        rows = self.document["parameters"]
        frame = _number_frame(rows, {"mean": "mean", "jackknife": "jackknifeStandardDeviation",
                                     "reported": "reportedStandardDeviation"}, "name")
        frame["unit"] = [row["unit"] for row in rows]
        return frame

    @property
    def errors(self) -> dict[str, pd.DataFrame]:
        """Open-loop errors of each joint, in `units`, as tables of folds (rows) × parts (columns).

        Fold i holds out part i, so the diagonal contains prediction errors.
        """
        return {matrix["joint"]: pd.DataFrame(
            [[float(value) for value in row["values"]] for row in matrix["rmseRad"]],
            self.parts, self.parts) for matrix in self.document["simulationMatrices"]}

    @property
    def units(self) -> dict[str, str]:
        """Unit of each joint's errors: "rad", or "m" for a prismatic joint."""
        return {matrix["joint"]: matrix["unit"] for matrix in self.document["simulationMatrices"]}

    def _table_shown(self) -> pd.DataFrame:
        return self.parameters

    def __repr__(self) -> str:
        return f"CrossValidation({len(self.parts)} parts, {len(self.parameters)} parameters)"


class Validation(ResultBase):
    """Result of a validation: prediction errors of given parameters on recordings."""

    def __init__(self, document: Mapping[str, Any], *, trajectories: Sequence[Trajectory] = (),
                 sensors: Sequence[tuple[str, str]] = (), **texts: Optional[str]) -> None:
        super().__init__(document, **texts)
        self.trajectories = list(trajectories)  #: one per window
        self.sensors = list(sensors)  #: name and unit

    @property
    def converged(self) -> bool:
        """Whether the initial state of each window was fitted with the open-loop simulation."""
        return all(window["fitted"] for window in self.document["windows"])

    @property
    def errors(self) -> pd.DataFrame:
        """Table of open-loop errors and reading noise, by recording and sensor."""
        fields = {"rmse": "rmse", "median_window": "medianWindow", "worst_window": "worstWindow",
                  "largest": "largest", "noise": "noise"}
        rows = [{"recording": recording["recording"], "sensor": sensor["sensor"],
                 **{column: float(sensor[field]) for column, field in fields.items()},
                 "unit": sensor["unit"]}
                for recording in self.document["recordings"] for sensor in recording["sensors"]]
        return pd.DataFrame(rows).set_index(["recording", "sensor"])

    def _table_shown(self) -> pd.DataFrame:
        return self.errors

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return f"Validation({len(self.document['windows'])} windows, {state})"


class Examination(ResultBase):
    """Result of checking recordings and a rig file without a calibration."""

    @property
    def findings(self) -> list[Finding]:
        """Findings about the recordings and the rig file, the most severe first."""
        return [Finding._from_json(finding) for finding in self.document["findings"]]

    @property
    def worst(self) -> str:
        """Severity of the most severe finding: "none", "note", "warning", "fault"."""
        return str(self.document["worst"])

    @property
    def excitation(self) -> pd.DataFrame:
        """Table of the predicted standard deviation of each free parameter due to sensor noise."""
        rows = self.document["excitation"]
        frame = _number_frame(rows, {"start": "start", "standard_deviation": "standardDeviation"},
                              "parameter")
        frame["unit"] = [row["unit"] for row in rows]
        return frame

    def _table_shown(self) -> pd.DataFrame:
        return pd.DataFrame([(finding.severity, finding.what, finding.advice)
                             for finding in self.findings], columns=["severity", "what", "advice"])

    def __repr__(self) -> str:
        return f"Examination({len(self.findings)} findings, worst '{self.worst}')"
