"""Recordings as the peers take them: readings, first guesses of states, interpolation."""

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

STEP_S = 2e-3  # the peers' integration step [s]
SAMPLES_A_STEP = 2
FILTER_SAMPLES, FILTER_ORDER = 41, 3  # 41 ms: passes the 3 Hz of these rigs, leaves 0.01 rad/s


@dataclass(frozen=True)
class Readings:
    """A recording at 1 kHz, whole steps of it."""

    times: np.ndarray  # [s]
    angles: np.ndarray  # sample, joint [rad]
    states: np.ndarray  # sample, filtered angles [rad] and rates [rad/s]
    control: np.ndarray  # mean over each integration step [V]

    @property
    def steps(self):
        return self.control.size


def load(path, joints):
    """Reads a recording of problems.record()."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    times, angles, volts = table[:, 0], table[:, 1 : 1 + joints], table[:, -1]
    sample_s = times[1] - times[0]

    def smooth(order, scale):
        return scale * savgol_filter(angles, FILTER_SAMPLES, FILTER_ORDER, deriv=order, axis=0)

    return Readings(
        times=times,
        angles=angles,
        states=np.hstack([smooth(0, 1.0), smooth(1, 1.0 / sample_s)]),
        control=volts[:-1].reshape(-1, SAMPLES_A_STEP).mean(axis=1),
    )


def between(before, rate_before, after, rate_after):
    """The samples within a step and at its end, by cubic Hermite interpolation [rad]."""
    samples = []
    for k in range(1, SAMPLES_A_STEP):
        x = k / SAMPLES_A_STEP
        value = (1 - x) ** 2 * (1 + 2 * x) * before + x * x * (3 - 2 * x) * after
        slope = x * (1 - x) ** 2 * rate_before - x * x * (1 - x) * rate_after
        samples.append(value + STEP_S * slope)
    return [*samples, after]
