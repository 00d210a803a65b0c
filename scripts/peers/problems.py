"""Calibration problems with known truth: equations of motion, parameters, recordings.

SI units throughout: s, rad, rad/s, kg, m, N·m, V. World y is up. Angles and their frames are those
of configs/rig-synthetic-pendulum.textproto and configs/rig-synthetic-furuta.textproto.
"""

import csv
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

GRAVITY = 9.82  # [m/s²]
SAMPLE_S = 1e-3  # sampling interval; a control is constant for as long [s]
NOISE_RAD = 1e-3  # standard deviation of a reading, white [rad]
TRUTH_CREEP = 1e-4  # dry friction of the truth is tau_c tanh(rate/creep) [rad/s]
PEER_CREEP = 1e-3  # the same in CasADi's model, which is integrated in steps of 2 ms [rad/s]

PENDULUM_MASS, PENDULUM_ARM = 0.428, 0.092  # [kg], joint to centre of mass [m]
ARM_MASS, ARM_CENTRE, ARM_LENGTH = 0.238, 0.128, 0.376  # [kg], [m], joint to joint [m]
ARM_INERTIA_XX = ARM_INERTIA_YY = 0.01  # without effect [kg·m²]
PENDULUM_INERTIA_XX = 1e-4  # along the Furuta pendulum's rod [kg·m²]
SHAFT_INERTIA = 4e-4  # [kg·m²]


@dataclass(frozen=True)
class Parameter:
    """A free parameter with its initial value and bounds."""

    name: str  # rigcal's name
    truth: float
    start: float
    lower: float
    upper: float

    @property
    def scale(self):
        """A typical size of the parameter, for solvers that need variables of order one."""
        return abs(self.start) if self.start else 0.01


@dataclass(frozen=True)
class Problem:
    """A calibration problem. `rig` is a file of configs/, `fixed` its --fix options."""

    name: str
    rig: str
    joints: int
    seconds: float
    start_state: tuple  # angles [rad], rates [rad/s]
    parameters: tuple
    fixed: dict = field(default_factory=dict)  # rigcal's name -> value, given to every program
    driven: bool = False

    def values(self, free):
        """All parameters by name, from the free ones in their order."""
        return {**self.fixed, **dict(zip((p.name for p in self.parameters), free))}

    @property
    def truth(self):
        return self.values([p.truth for p in self.parameters])


def inertia(name, truth):
    return Parameter(name, truth, 0.01, 1e-9, 1.0)


def viscous(name, truth):
    return Parameter(name, truth, 1e-4, 0.0, 1.0)


def dry(name, truth):
    return Parameter(name, truth, 1e-3, 0.0, 1.0)


TILT = (
    Parameter("gravity.tilt_x", 0.006, 0.0, -0.5, 0.5),
    Parameter("gravity.tilt_z", -0.004, 0.0, -0.5, 0.5),
)
FURUTA_INERTIAS = (inertia("A.J_zz", 4.4e-3), inertia("B.J_yy", 3.96e-3), inertia("B.J_zz", 3.9e-3))
FURUTA_FRICTION = (
    viscous("1.b", 1e-3),
    dry("1.tau_c", 4e-3),
    viscous("2.b", 1e-4),
    dry("2.tau_c", 9e-4),
)
NO_STRIBECK = {"pivot.tau_delta": 0.0, "pivot.zeta": 1.0}
RELEASED = (0.0, math.pi - 0.03, 0.0, 0.0)

PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem(
            name="pendulum, viscous",
            rig="rig-synthetic-pendulum.textproto",
            joints=1,
            seconds=20.0,
            start_state=(2.6, 0.0),
            parameters=(inertia("pendulum.J_zz", 3.9e-3), viscous("pivot.b", 1e-3)),
            fixed={"pivot.tau_c": 0.0, **NO_STRIBECK},
        ),
        Problem(
            name="pendulum, dry",
            rig="rig-synthetic-pendulum.textproto",
            joints=1,
            seconds=20.0,
            start_state=(2.6, 0.0),
            parameters=(
                inertia("pendulum.J_zz", 3.9e-3),
                viscous("pivot.b", 2e-4),
                dry("pivot.tau_c", 6e-3),
            ),
            fixed=NO_STRIBECK,
        ),
        Problem(
            name="Furuta release, viscous",
            rig="rig-synthetic-furuta.textproto",
            joints=2,
            seconds=15.0,
            start_state=RELEASED,
            parameters=(*FURUTA_INERTIAS, viscous("1.b", 1e-2), viscous("2.b", 5e-4), *TILT),
            fixed={"1.tau_c": 0.0, "2.tau_c": 0.0, "1.K": 0.0},
        ),
        Problem(
            name="Furuta release, dry",
            rig="rig-synthetic-furuta.textproto",
            joints=2,
            seconds=15.0,
            start_state=RELEASED,
            parameters=(*FURUTA_INERTIAS, *FURUTA_FRICTION, *TILT),
            fixed={"1.K": 0.0},
        ),
        Problem(
            name="Furuta multisine, dry",
            rig="rig-synthetic-furuta.textproto",
            joints=2,
            seconds=10.0,
            start_state=(0.0, 0.0, 0.0, 0.0),
            parameters=(
                *FURUTA_INERTIAS,
                *FURUTA_FRICTION,
                Parameter("1.K", 0.0729, 0.05, 0.0, 10.0),
                *TILT,
            ),
            driven=True,
        ),
    )
}


def friction(ops, rate, viscous_coefficient, torque, creep):
    """Torque against the motion [N·m]. `creep` smooths dry friction [rad/s]."""
    return viscous_coefficient * rate + torque * ops.tanh(rate / creep)


def pendulum_rates(ops, state, _control, values, creep):
    """Time derivative of (angle, rate)."""
    angle, rate = state
    torque = -PENDULUM_MASS * GRAVITY * PENDULUM_ARM * ops.sin(angle)
    torque -= friction(ops, rate, values["pivot.b"], values["pivot.tau_c"], creep)
    return [rate, torque / (values["pendulum.J_zz"] + PENDULUM_MASS * PENDULUM_ARM**2)]


def tilted_gravity(ops, tilt_x, tilt_z):
    """(0, −g, 0) turned by the rotation vector (tilt_x, 0, tilt_z) [rad], third order in it."""
    square = tilt_x * tilt_x + tilt_z * tilt_z
    sine = 1 - square / 6
    return GRAVITY * tilt_z * sine, -GRAVITY * (1 - square / 2), -GRAVITY * tilt_x * sine


def furuta_rates(ops, state, control, values, creep):
    """Time derivative of (angles of arm and pendulum, their rates), from Lagrange's equation."""
    angle_1, angle_2, rate_1, rate_2 = state
    c1, s1, c2, s2 = ops.cos(angle_1), ops.sin(angle_1), ops.cos(angle_2), ops.sin(angle_2)
    mass, arm, length = PENDULUM_MASS, PENDULUM_ARM, ARM_LENGTH
    gx, gy, gz = tilted_gravity(ops, values["gravity.tilt_x"], values["gravity.tilt_z"])
    along, across = gx * c1 - gz * s1, -gx * s1 - gz * c1  # gravity along the arm and its motion

    swing = mass * arm**2 + values["B.J_zz"] - PENDULUM_INERTIA_XX
    m11 = values["A.J_zz"] + SHAFT_INERTIA + ARM_MASS * ARM_CENTRE**2 + mass * length**2
    m11 = m11 + PENDULUM_INERTIA_XX + swing * s2 * s2
    m12 = mass * length * arm * c2
    m22 = values["B.J_yy"] + mass * arm**2

    torque_1 = values["1.K"] * control - 2 * swing * s2 * c2 * rate_1 * rate_2
    torque_1 += mass * length * arm * s2 * rate_2 * rate_2
    torque_1 += ARM_MASS * ARM_CENTRE * across + mass * (length * across - arm * s2 * along)
    torque_1 -= friction(ops, rate_1, values["1.b"], values["1.tau_c"], creep)
    torque_2 = swing * s2 * c2 * rate_1 * rate_1 + mass * arm * (s2 * gy + c2 * across)
    torque_2 -= friction(ops, rate_2, values["2.b"], values["2.tau_c"], creep)

    determinant = m11 * m22 - m12 * m12
    return [
        rate_1,
        rate_2,
        (m22 * torque_1 - m12 * torque_2) / determinant,
        (m11 * torque_2 - m12 * torque_1) / determinant,
    ]


def state_rates(problem):
    """The equations of motion of a problem: f(ops, state, control [V], values, creep [rad/s])."""
    return pendulum_rates if problem.joints == 1 else furuta_rates


def control_signal(problem, times):
    """Motor voltage from each sample to the next [V]: a multisine that fades in over 0.5 s."""
    if not problem.driven:
        return np.zeros_like(times)
    frequencies = np.array([0.2, 0.4, 0.7, 1.1, 1.6, 2.2, 3.1, 4.3, 5.9])  # [Hz]
    amplitudes = np.array([0.96, 0.96, 0.96, 1.08, 1.08, 0.96, 0.84, 0.72, 0.60])  # [V]
    phases = np.random.default_rng(7).uniform(0, 2 * np.pi, frequencies.size)
    waves = np.sin(2 * np.pi * np.outer(times, frequencies) + phases)
    return np.round(waves @ amplitudes * np.minimum(times / 0.5, 1), 6)


def simulate(problem, values):
    """Sample times [s], states and controls by DOP853 at rtol 1e-10, from the initial state."""
    times = np.arange(round(problem.seconds / SAMPLE_S) + 1) * SAMPLE_S
    control = control_signal(problem, times)
    rates = state_rates(problem)

    def integrate(state, grid, volt):
        solution = solve_ivp(
            lambda _t, x: rates(math, x, volt, values, TRUTH_CREEP),
            (grid[0], grid[-1]),
            state,
            method="DOP853",
            t_eval=grid,
            rtol=1e-10,
            atol=1e-12,
        )
        return solution.y.T

    if not problem.driven:
        return times, integrate(problem.start_state, times, 0.0), control
    states = [np.array(problem.start_state)]
    for k in range(times.size - 1):
        states.append(integrate(states[-1], times[k : k + 2], control[k])[-1])
    return times, np.array(states), control


def record(problem, path, seed):
    """Writes a recording of the true rig, with noise, in the columns of the rig file."""
    times, states, control = simulate(problem, problem.truth)
    angles = np.zeros((times.size, 2))
    noise = np.random.default_rng(seed).normal(scale=NOISE_RAD, size=(times.size, problem.joints))
    angles[:, : problem.joints] = states[:, : problem.joints] + noise
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t_s", "theta1_rad", "theta2_rad", "u_V"])
        for t, (first, second), u in zip(times, angles, control):
            writer.writerow([f"{t:.3f}", f"{first:.7f}", f"{second:.7f}", f"{u:g}"])
