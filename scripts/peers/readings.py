"""Recordings as input of the peers: readings, initial states, interpolation."""

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from problems import SAMPLE_S

FILTER_SAMPLES, FILTER_ORDER = 41, 3  # 41 ms: passes the 3 Hz of these rigs, leaves 0.01 rad/s


@dataclass(frozen=True)
class Readings:
    """A recording at 1 kHz, cut to whole integration steps."""

    times: np.ndarray  # [s]
    angles: np.ndarray  # sample, joint [rad]
    states: np.ndarray  # sample, filtered angles [rad] and rates [rad/s]
    control: np.ndarray  # mean over each integration step [V]
    step_s: float  # of the integration, a multiple of the sample interval

    @property
    def samples_a_step(self):
        return round(self.step_s / SAMPLE_S)

    def between(self, before, rate_before, after, rate_after):
        """Angles at the samples within a step and at its end, by cubic Hermite interpolation."""
        samples = []
        for k in range(1, self.samples_a_step):
            x = k / self.samples_a_step
            value = (1 - x) ** 2 * (1 + 2 * x) * before + x * x * (3 - 2 * x) * after
            slope = x * (1 - x) ** 2 * rate_before - x * x * (1 - x) * rate_after
            samples.append(value + self.step_s * slope)
        return [*samples, after]


def load(path, joints, step_s):
    """Reads a recording of problems.record(), for an integration in steps of `step_s`."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    times, angles, volts = table[:, 0], table[:, 1 : 1 + joints], table[:, -1]
    per_step = round(step_s / SAMPLE_S)

    def smooth(order, scale):
        return scale * savgol_filter(angles, FILTER_SAMPLES, FILTER_ORDER, deriv=order, axis=0)

    return Readings(
        times=times,
        angles=angles,
        states=np.hstack([smooth(0, 1.0), smooth(1, 1.0 / SAMPLE_S)]),
        control=volts[:-1].reshape(-1, per_step).mean(axis=1),
        step_s=step_s,
    )
