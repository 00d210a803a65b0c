"""Fits a recording with MuJoCo's system identification toolbox and prints the result as JSON.

mujoco.sysid fits simulations from given states (single shooting) by least squares with finite
differences. From far starts it is used as one must: first on short pieces that begin at filtered
readings, then on ever longer ones from the start, whose first state is estimated along.
"""

import argparse
import json
import math
import time

import mujoco
import numpy as np
from absl import logging
from mujoco import sysid

import problems
import readings

SIGMA = problems.NOISE_RAD
PIECE_S = 0.4  # of the first stage
HORIZONS_S = (2.0, 6.0, math.inf)  # of those that follow
MOST_ITERATIONS = 100
STATE_SCALE = 1e-2  # by which first states are varied [rad, rad/s]

PENDULUM = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="{step}" integrator="RK4" gravity="0 {gravity} 0"/>
  <worldbody>
    <body name="pendulum">
      <inertial pos="0 {centre} 0" mass="{mass}" diaginertia="0.01 0.01 0.01"/>
      <joint name="pivot" type="hinge" axis="0 0 1"/>
    </body>
  </worldbody>
</mujoco>
"""
FURUTA = """
<mujoco>
  <compiler angle="radian"/>
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
</mujoco>
"""


def specification(problem):
    """The rig as MuJoCo has it, before its parameters."""
    text = (PENDULUM if problem.joints == 1 else FURUTA).format(
        step=readings.STEP_S,
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
    """Builds MuJoCo models with given parameters, by writing into copies of a compiled one.

    Compiling anew for each set of parameters, as the toolbox does by itself, takes longer and
    refuses inertias that break the triangle inequality, which the search passes through.
    """

    def __init__(self, problem):
        self.problem = problem
        self.model = specification(problem).compile()
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
            # Body axes are the world's at zero: y is the arm's z, x the pendulum's y.
            model.body_inertia[1] = problems.ARM_INERTIA_XX, values["A.J_zz"], problems.ARM_INERTIA_YY
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
        return mujoco.MjModel.__copy__(model)

    def set_friction(self, joint, name, values):
        self.model.dof_damping[joint] = values[f"{name}.b"]
        self.model.dof_frictionloss[joint] = values[f"{name}.tau_c"]
