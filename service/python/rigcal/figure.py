"""Plots of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from rigcal import _rigcal
from rigcal.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rigcal.result import Result

_SEGMENTS_SHOWN = 4
_MEASURED, _SIMULATED, _RESIDUAL = "#888888", "#0b62a4", "#b5442d"
# More points than pixel columns only make a figure slow.
_POINTS_MAX = 4000


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib, or result.report(path) "
                          "for a page without dependencies") from None
    return pyplot


def draw_result(result: Result, segments: Optional[Sequence[int]]) -> Figure:
    """Plots each sensor's readings, simulation and their difference, and parameter intervals."""
    pyplot = _pyplot()
    chosen = list(range(len(result.trajectories)))[:_SEGMENTS_SHOWN] if segments is None else \
        [int(index) for index in segments]
    for index in chosen:
        if not -len(result.trajectories) <= index < len(result.trajectories):
            raise InputError(f"segments: there is no trajectory {index}; there are "
                             f"{len(result.trajectories)}")
    rows = 2 * len(result.sensors) if chosen else 0
    names = result.parameters.index
    height = 0.28 * len(names) + 1.1
    figure = pyplot.figure(figsize=(max(7.5, 4.2 * len(chosen)), 1.7 * rows + height),
                           layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1.7 * rows, height]) if rows else \
        (None, figure)
    if above is not None:
        _draw_trajectories(above, result, chosen)
    _draw_intervals(below.subplots(), result)
    pyplot.close(figure)  # the caller shows it, once
    return figure


def _draw_trajectories(figure: Any, result: Result, chosen: Sequence[int]) -> None:
    ratios = [2, 1] * len(result.sensors)
    axes = figure.subplots(len(ratios), len(chosen), squeeze=False, sharex="col",
                           gridspec_kw={"height_ratios": ratios})
    for column, index in enumerate(chosen):
        trajectory = result.trajectories[index]
        every = max(1, len(trajectory.time) // _POINTS_MAX)
        time = trajectory.time[::every]
        axes[0, column].set_title(trajectory.recording, fontsize="medium", loc="left")
        axes[-1, column].set_xlabel("time [s]")
        for k, (name, unit) in enumerate(result.sensors):
            measured = trajectory.measured[::every, k]
            simulated = trajectory.simulated[::every, k]
            motion, error = axes[2 * k, column], axes[2 * k + 1, column]
            motion.plot(time, measured, color=_MEASURED, linewidth=2.2, label="measured")
            motion.plot(time, simulated, color=_SIMULATED, linewidth=0.9, label="simulated")
            error.plot(time, 1e3 * (measured - simulated), color=_RESIDUAL, linewidth=0.7)
            error.axhline(0.0, color="black", linewidth=0.4)
            for axis in (motion, error):
                axis.spines[["top", "right"]].set_visible(False)
            if column == 0:
                motion.set_ylabel(f"{name} [{unit}]")
                error.set_ylabel(f"error [m{unit}]")
    axes[0, -1].legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), frameon=False,
                       fontsize="small", ncols=2)
    left_out = len(result.trajectories) - len(chosen)
    if left_out > 0:
        figure.suptitle(f"{len(chosen)} of {len(result.trajectories)} segments; "
                        "plot(segments=[…]) shows others", fontsize="small", x=0.99, ha="right")


def _draw_intervals(axis: Any, result: Result) -> None:
    """Plots the relative 95 % intervals of all parameters on a common scale."""
    frame = result.parameters
    value, half = frame["value"].to_numpy(), frame["half_interval"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = 100.0 * half / np.abs(value)
    known = np.isfinite(relative) & (relative > 0.0) & ~frame["at_bound"].to_numpy(dtype=bool)
    places = np.arange(len(frame))[::-1]
    smallest = min(1.0, relative[known].min() if known.any() else 1.0)
    largest = max(100.0, relative[known].max() if known.any() else 100.0)
    axis.set_xscale("log")
    axis.set_xlim(smallest / 1.5, 1.5 * largest)
    axis.set_ylim(-0.6, len(frame) - 0.4)
    axis.hlines(places, smallest / 1.5, 1.5 * largest, color="#dddddd", linewidth=0.8)
    axis.plot(relative[known], places[known], "o", color=_SIMULATED, markersize=5)
    for place in places[~known]:
        axis.annotate("not identifiable", (1.4 * largest, place), ha="right", va="center", color=_RESIDUAL,
                      fontsize="small")
    notations = _rigcal.make_table_notations(frame["value"].tolist(),
                                             frame["standard_deviation"].tolist(),
                                             frame["unit"].tolist())
    labels = [f"{name} = {each.value} {each.unit}" + (" (at its bound)" if bound else "")
              for name, each, bound in zip(frame.index, notations, frame["at_bound"])]
    axis.set_yticks(places, labels, fontsize="small")
    axis.set_xlabel("half width of the 95 % interval [% of the value]")
    axis.spines[["top", "right"]].set_visible(False)
