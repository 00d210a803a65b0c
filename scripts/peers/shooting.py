"""The multiple-shooting problem as CasADi functions: nodes 0.2 s apart, RK4 in steps of 2 ms.

Unknowns are the free parameters p, each in units of its scale, and the states x at the nodes.
"""

import casadi as ca

import problems

STEP_S = 2e-3
STEPS = 100  # per interval between nodes
SIGMA = problems.NOISE_RAD


class Shooting:
    """Functions of a problem, for one interval and for all intervals of a recording.

    Columns of `controls` and `measured` are steps, those of states and results are intervals.
    """

    def __init__(self, problem, recording):
        self.problem, self.recording = problem, recording
        self.joints = problem.joints
        self.size_x, self.size_p = 2 * problem.joints, len(problem.parameters)
        self.intervals = recording.control.size // STEPS
        steps = self.intervals * STEPS
        samples = steps * recording.samples_a_step
        self.controls = ca.DM(recording.control[:steps]).T
        self.first = ca.DM(recording.angles[0])
        per_step = self.joints * recording.samples_a_step
        self.measured = ca.DM(recording.angles[1 : samples + 1].reshape(-1, per_step)).T
        self.readings = (samples + 1) * self.joints
        node_samples = STEPS * recording.samples_a_step
        self.states_start = ca.DM(recording.states[:samples:node_samples]).T

    def rk4_step(self, state, scaled, control):
        """The state one step later, symbolically."""
        free = [s * p.scale for s, p in zip(ca.vertsplit(scaled), self.problem.parameters)]
        values = self.problem.values(free)
        rates = problems.state_rates(self.problem)

        def slope(x):
            return ca.vertcat(*rates(ca, ca.vertsplit(x), control, values, problems.PEER_CREEP))

        h = STEP_S
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def step_residuals(self, before, after, measured):
        """Residuals of the samples within a step and at its end, in standard deviations."""
        n = self.joints
        samples = self.recording.between(before[:n], before[n:], after[:n], after[n:])
        return (ca.vertcat(*samples) - measured) / SIGMA

    def step_symbols(self):
        """x, p, control and readings of a step, the state after it, and its residuals."""
        x, p, u = ca.SX.sym("x", self.size_x), ca.SX.sym("p", self.size_p), ca.SX.sym("u")
        y = ca.SX.sym("y", self.joints * self.recording.samples_a_step)
        end = self.rk4_step(x, p, u)
        return x, p, u, y, end, self.step_residuals(x, end, y)

    def over_recording(self, name, step, initial, options):
        """Folds `step` over each interval and maps that over the recording, on one thread.

        The accumulators of `step` begin with the state; `initial` are values of the others.
        Returns a function of (states, p, controls, readings) with the accumulators at the ends.
        """
        x, p = ca.MX.sym("x", self.size_x), ca.MX.sym("p", self.size_p)
        u, y = ca.MX.sym("u", 1, STEPS), ca.MX.sym("y", self.measured.shape[0], STEPS)
        chain = step.mapaccum("chain", STEPS, 1 + len(initial))
        accumulated = chain(x, *initial, ca.repmat(p, 1, STEPS), u, y)
        widths = [1, *(value.shape[1] for value in initial)]
        ends = [a[:, -width:] for a, width in zip(accumulated, widths)]
        interval = ca.Function("interval", [x, p, u, y], ends)

        n = self.intervals
        states = ca.MX.sym("states", self.size_x, n)
        controls = ca.MX.sym("controls", *self.controls.shape)
        measured = ca.MX.sym("measured", *self.measured.shape)
        results = interval.map(n)(states, ca.repmat(p, 1, n), controls, measured)
        return ca.Function(name, [states, p, controls, measured], results, options)

    def values(self, options=None):
        """(states, p, controls, readings) -> states at the ends, cost of each interval."""
        x, p, u, y, end, residuals = self.step_symbols()
        cost = ca.SX.sym("cost")
        step = ca.Function("step", [x, cost, p, u, y], [end, cost + ca.sumsqr(residuals) / 2])
        return self.over_recording("values", step, [ca.DM(0)], options or {})

    def sensitivities(self, options=None):
        """values() with the derivatives for Gauss–Newton.

        Returns states at the ends, cost, derivatives of the ends along (x, p), gradient of the cost
        and its Gauss–Newton Hessian along (x, p).
        """
        x, p, u, y, end, residuals = self.step_symbols()
        size = self.size_x + self.size_p
        s, cost = ca.SX.sym("s", self.size_x, size), ca.SX.sym("cost")
        gradient, hessian = ca.SX.sym("gradient", size), ca.SX.sym("hessian", size, size)

        def along(expression):
            of_p = ca.jacobian(expression, p)
            own = ca.horzcat(ca.SX.zeros(expression.numel(), self.size_x), of_p)
            return ca.mtimes(ca.jacobian(expression, x), s) + own

        slopes = along(residuals)
        step = ca.Function(
            "step",
            [x, cost, s, gradient, hessian, p, u, y],
            [
                end,
                cost + ca.sumsqr(residuals) / 2,
                along(end),
                gradient + ca.mtimes(slopes.T, residuals),
                hessian + ca.mtimes(slopes.T, slopes),
            ],
            {"cse": True},
        )
        identity = ca.DM.eye(self.size_x)
        initial = [
            ca.DM(0),
            ca.densify(ca.horzcat(identity, ca.DM.zeros(self.size_x, self.size_p))),
            ca.DM.zeros(size),
            ca.DM.zeros(size, size),
        ]
        return self.over_recording("sensitivities", step, initial, options or {})

    def first_residuals(self, first_state):
        """Residuals of the recording's first sample, in standard deviations."""
        return (first_state[: self.joints] - self.first) / SIGMA
