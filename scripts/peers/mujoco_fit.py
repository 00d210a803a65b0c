"""Fits a recording with MuJoCo's system identification toolbox and prints the result as JSON.

mujoco.sysid fits simulations from given initial states (single shooting) by least squares with
finite differences. Far initial values need several stages: first pieces of 0.4 s, each from
filtered readings, then longer parts from the recording's beginning with a free initial state. All
stages but the last have a loose tolerance.
"""

import argparse
import contextlib
import copy
import math
import sys

import mujoco
import numpy as np
from mujoco import sysid

import problems
import readings
import result

SIGMA = problems.NOISE_RAD
PIECE_S, PIECES = 0.4, 15  # of the first stage
HORIZONS_S = (2.0, 6.0, math.inf)  # of the following stages
MOST_ITERATIONS = 100
EARLY, LAST = 1e-3, 1e-6  # relative step at which a stage ends
FIRST_STATE = "first state"  # its difference from the filtered readings
STATE_SCALE = 1e-2  # of the first state's variation [rad, rad/s]
FIRST_REACH = 0.5  # bound on the change of the first state [rad, rad/s]

PENDULUM = """
<mujoco>
  <compiler angle="radian"/>
  <size memory="100K"/>
  <option timestep="{step}" integrator="RK4" gravity="0 {gravity} 0"/>
  <worldbody>
    <body name="pendulum">
      <inertial pos="0 {centre} 0" mass="{mass}" diaginertia="0.01 0.01 0.01"/>
      <joint name="pivot" type="hinge" axis="0 0 1"/>
    </body>
  </worldbody>
  <actuator><motor joint="pivot" gear="1"/></actuator>
  <sensor><jointpos joint="pivot"/></sensor>
</mujoco>
"""
FURUTA = """
<mujoco>
  <compiler angle="radian"/>
  <size memory="100K"/>
  <option timestep="{step}" integrator="RK4" gravity="0 {gravity} 0"/>
  <worldbody>
    <body name="A">
      <inertial pos="{arm_centre} 0 0" mass="{arm_mass}" diaginertia="0.01 0.01 0.01"/>
      <joint name="1" type="hinge" axis="0 1 0" armature="{shaft}"/>
      <body name="B" pos="{arm_length} 0 0">
        <inertial pos="0 {centre} 0" mass="{mass}" diaginertia="0.01 0.01 0.01"/>
        <joint name="2" type="hinge" axis="1 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="1" gear="1"/></actuator>
  <sensor><jointpos joint="1"/><jointpos joint="2"/></sensor>
</mujoco>
"""


def is_dry(problem):
    return any(value for name, value in problem.truth.items() if name.endswith("tau_c"))


def step_s(problem):
    """1 ms with dry friction, which MuJoCo smooths less at shorter steps."""
    return 1e-3 if is_dry(problem) else 2e-3


def specification(problem):
    """The rig as a MuJoCo model, before its parameters are set."""
    text = (PENDULUM if problem.joints == 1 else FURUTA).format(
        step=step_s(problem),
        gravity=-problems.GRAVITY,
        mass=problems.PENDULUM_MASS,
        centre=-problems.PENDULUM_ARM,
        arm_mass=problems.ARM_MASS,
        arm_centre=problems.ARM_CENTRE,
        arm_length=problems.ARM_LENGTH,
        shaft=problems.SHAFT_INERTIA,
    )
    return mujoco.MjSpec.from_string(text)


class Rig:
    """Builds MuJoCo models with given parameters by writing into copies of a compiled one.

    The toolbox would compile a model for each set of parameters. That takes longer and rejects
    inertias that violate the triangle inequality, which occur during the search.
    """

    def __init__(self, problem):
        self.problem = problem
        self.model = specification(problem).compile()
        # Dry friction as stiff as this step allows; the default has ten times the error.
        self.model.dof_solref[:] = -1.0, -1.9 / step_s(problem)
        self.model.dof_solimp[:, :2] = 0.9999
        self.data = mujoco.MjData(self.model)

    def build(self, parameters, _spec):
        values = self.problem.values(
            parameters[p.name].value[0] * p.scale for p in self.problem.parameters
        )
        model = self.model
        if self.problem.joints == 1:
            model.body_inertia[1] = 0.01, 0.01, values["pendulum.J_zz"]
            self.set_friction(0, "pivot", values)
        else:
            # Body axes equal the world's at zero angles: y is the arm's z, x the pendulum's y.
            model.body_inertia[1] = (
                problems.ARM_INERTIA_XX,
                values["A.J_zz"],
                problems.ARM_INERTIA_YY,
            )
            model.body_inertia[2] = (
                values["B.J_yy"],
                problems.PENDULUM_INERTIA_XX,
                values["B.J_zz"],
            )
            self.set_friction(0, "1", values)
            self.set_friction(1, "2", values)
            model.actuator_gear[0, 0] = values["1.K"]
            model.opt.gravity = problems.tilted_gravity(
                math, values["gravity.tilt_x"], values["gravity.tilt_z"]
            )
        mujoco.mj_setConst(model, self.data)
        return copy.copy(model)

    def set_friction(self, joint, name, values):
        self.model.dof_damping[joint] = values[f"{name}.b"]
        self.model.dof_frictionloss[joint] = values[f"{name}.tau_c"]


class Fit:
    """Stages of a fit, each starting from the previous result."""

    def __init__(self, problem, recording):
        self.problem, self.recording = problem, recording
        self.rig = Rig(problem)
        self.spec = specification(problem)
        self.parameters = sysid.ParameterDict()
        for p in problem.parameters:
            bounds = p.lower / p.scale, p.upper / p.scale
            self.parameters.add(sysid.Parameter(p.name, p.start / p.scale, *bounds))
        self.iterations, self.ended_well = 0, True

    def pieces(self, seconds):
        """Splits the recording into as many complete pieces of this length as possible."""
        recording, model = self.recording, self.rig.model
        steps = min(round(seconds / recording.step_s), recording.control.size)
        per_step = recording.samples_a_step
        pieces = []
        for first in range(0, recording.control.size - steps + 1, steps):
            samples = slice(first * per_step, (first + steps) * per_step + 1)
            times = recording.times[samples]
            # MuJoCo takes as many controls as states and ignores the last.
            volts = np.append(recording.control[first : first + steps], 0.0)[:, None]
            pieces.append(
                sysid.SystemTrajectory(
                    model=model,
                    control=sysid.TimeSeries(times[::per_step], volts),
                    sensordata=sysid.TimeSeries.from_names(times, recording.angles[samples], model),
                    initial_state=np.concatenate([[times[0]], recording.states[samples.start]]),
                    state=None,
                )
            )
        return pieces

    def residuals(self, parameters, predicted, measured, model, _all, state):
        """Differences at all samples except a piece's first, in standard deviations."""
        n = self.problem.joints
        angles, rates = state[:, 1 : 1 + n], state[:, 1 + n : 1 + 2 * n]
        samples = self.recording.between(angles[:-1], rates[:-1], angles[1:], rates[1:])
        later = np.stack(samples, axis=1).reshape(-1, n)
        skipped = measured.data.shape[0] - later.shape[0]
        return (later - measured.data[skipped:]) / SIGMA, measured, measured

    def rollout(self, initial_states, param_dicts, **others):
        """MuJoCo's rollout, from the fitted first state if there is one."""
        if FIRST_STATE in param_dicts[0].keys():
            initial_states = [
                state + np.append(0.0, parameters[FIRST_STATE].value * STATE_SCALE)
                for state, parameters in zip(initial_states, param_dicts)
            ]
        return sysid.sysid_rollout(initial_states=initial_states, **others)

    def stage(self, pieces, tolerance):
        """Fits pieces of one length. Returns the root mean square residual [rad]."""
        sequences = sysid.ModelSequences(
            "rig",
            self.spec,
            [f"piece {k}" for k in range(len(pieces))],
            [piece.initial_state for piece in pieces],
            [piece.control for piece in pieces],
            [piece.sensordata for piece in pieces],
        )
        residuals = sysid.build_residual_fn(
            models_sequences=[sequences],
            build_model=self.rig.build,
            modify_residual=self.residuals,
            custom_rollout=self.rollout,
            n_threads=1,
            resample_true=False,
        )
        self.parameters, fitted = sysid.optimize(
            self.parameters,
            residuals,
            verbose=False,
            max_iters=MOST_ITERATIONS,
            xtol=tolerance,
            x_scale="jac",
        )
        objective = fitted.extras["objective"]
        self.iterations += len(objective) - 1
        self.ended_well = len(objective) <= MOST_ITERATIONS
        return SIGMA * math.sqrt(2 * objective[-1] / fitted.jac.shape[0])

    def __call__(self):
        """Runs all stages. Returns the last one's root mean square residual [rad]."""
        self.stage(self.pieces(PIECE_S)[:PIECES], EARLY)
        reach = np.full(2 * self.problem.joints, FIRST_REACH / STATE_SCALE)
        self.parameters.add(sysid.Parameter(FIRST_STATE, 0 * reach, -reach, reach))
        for horizon in HORIZONS_S:
            piece = self.pieces(min(horizon, self.problem.seconds))[:1]
            rmse = self.stage(piece, EARLY if horizon < self.problem.seconds else LAST)
        return rmse

    def found(self):
        """Free parameters, in the problem's order [SI]."""
        return [self.parameters[p.name].value[0] * p.scale for p in self.problem.parameters]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=problems.PROBLEMS)
    parser.add_argument("recording", help="CSV of problems.record()")
    arguments = parser.parse_args()

    problem = problems.PROBLEMS[arguments.problem]
    stopwatch = result.Stopwatch()
    fit = Fit(problem, readings.load(arguments.recording, problem.joints, step_s(problem)))
    setup = stopwatch.lap()
    # The toolbox prints its iterations to standard output, which is for the result.
    with contextlib.redirect_stdout(sys.stderr):
        rmse = fit()
    result.write(setup, stopwatch.lap(), fit.iterations, fit.ended_well, rmse, fit.found())


if __name__ == "__main__":
    main()
