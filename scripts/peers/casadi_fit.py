"""Fits a recording by multiple shooting in CasADi and prints the result as JSON.

Minimises ½ Σ ((angle − reading)/σ)² over parameters and states at the nodes, subject to continuity.
Two solvers: IPOPT, and Gauss–Newton steps of our own. Both run on one thread.
"""

import argparse
import math

import casadi as ca
import numpy as np
from scipy.sparse import block_diag, bmat, csc_matrix, diags, eye
from scipy.sparse.linalg import splu

import problems
import readings
import result
from shooting import SIGMA, STEP_S, Shooting

JIT = {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O3", "-march=native"]}}
MOST_ITERATIONS = 200
TOLERANCE = 1e-8  # of IPOPT, and of the loop's last parameter step, relative
SOFT_TOLERANCE = 1e-2  # the same with relaxed continuity
GAPS = (0.02, 0.5)  # standard deviations of gaps with relaxed continuity [rad, rad/s]


def start_and_bounds(shooting):
    """Start, lower and upper bounds of (p, states), p in units of the parameters' scales."""
    column = lambda key: [getattr(p, key) / p.scale for p in shooting.problem.parameters]
    free = [math.inf] * shooting.states_start.numel()
    start = ca.vertcat(ca.DM(column("start")), ca.vec(shooting.states_start))
    return start, column("lower") + [-v for v in free], column("upper") + free


def split(shooting, unknowns):
    """p and the states, a column per node."""
    p = unknowns[: shooting.size_p]
    return p, ca.reshape(unknowns[shooting.size_p :], shooting.size_x, shooting.intervals)


def gauss_newton_hessian(shooting, unknowns):
    """The Gauss–Newton Hessian along (p, states), upper triangle, for IPOPT's `hess_lag`."""
    p, states = split(shooting, unknowns)
    blocks = shooting.sensitivities()(states, p, shooting.controls, shooting.measured)[-1]
    x = shooting.size_x
    blocks = ca.horzsplit(blocks, x + shooting.size_p)
    across = ca.horzcat(*(block[x:, :x] for block in blocks))
    of_states = ca.diagcat(*(block[:x, :x] for block in blocks))
    of_states = of_states + ca.diag(
        ca.vertcat([1 / SIGMA**2] * shooting.joints, ca.DM(of_states.shape[0] - shooting.joints, 1))
    )
    of_p = sum(block[x:, x:] for block in blocks)
    hessian = ca.blockcat([[of_p, across], [across.T, of_states]])
    factor = ca.MX.sym("factor")
    multipliers = ca.MX.sym("multipliers", x * (shooting.intervals - 1))
    return ca.Function(
        "hessian",
        [unknowns, ca.MX.sym("none", 0), factor, multipliers],
        [ca.triu(factor * hessian)],
    )


def ipopt(shooting, exact, jit):
    """A function that solves with IPOPT: () -> (p, cost, iterations, ended well)."""
    unknowns = ca.MX.sym("unknowns", shooting.size_p + shooting.states_start.numel())
    p, states = split(shooting, unknowns)
    ends, costs = shooting.values()(states, p, shooting.controls, shooting.measured)
    cost = ca.sum2(costs) + ca.sumsqr(shooting.first_residuals(states[:, 0])) / 2
    gaps = ca.vec(ends[:, :-1] - states[:, 1:])
    options = {
        "print_time": False,
        "ipopt": {"print_level": 0, "sb": "yes", "tol": TOLERANCE, "max_iter": MOST_ITERATIONS},
        **(JIT if jit else {}),
    }
    if not exact:
        options["hess_lag"] = gauss_newton_hessian(shooting, unknowns)
    solver = ca.nlpsol("solver", "ipopt", {"x": unknowns, "f": cost, "g": gaps}, options)

    def solve():
        start, lower, upper = start_and_bounds(shooting)
        found = solver(x0=start, lbx=lower, ubx=upper, lbg=0, ubg=0)
        stats = solver.stats()
        p = found["x"].full().ravel()[: shooting.size_p]
        return p, float(found["f"]), stats["iter_count"], stats["success"]

    return solve


class GaussNewton:
    """Gauss–Newton on the sensitivities: one sparse KKT system per iteration, with a line search.

    Continuity is relaxed first, with gaps weighted by GAPS, then exact (l1 merit function).
    """

    def __init__(self, shooting, jit):
        self.shooting = shooting
        options = JIT if jit else {}
        self.values = shooting.values(options)
        self.sensitivities = shooting.sensitivities(options)
        gap = np.repeat(GAPS, shooting.joints)
        self.gaps = np.tile(gap, shooting.intervals - 1)

    def unpack(self, unknowns):
        """p and the states, a column per node."""
        sizes = self.shooting
        p, states = unknowns[: sizes.size_p], unknowns[sizes.size_p :]
        return p, states.reshape((sizes.size_x, -1), order="F")

    def evaluate(self, function, unknowns):
        """Cost and gaps at a point, and the other outputs of `function` per interval."""
        shooting = self.shooting
        p, states = self.unpack(unknowns)
        results = function(states, p, shooting.controls, shooting.measured)
        ends, costs, *others = [r.full() for r in results]
        first = (states[: shooting.joints, 0] - shooting.first.full().ravel()) / SIGMA
        cost = costs.sum() + first @ first / 2
        gaps = (ends[:, :-1] - states[:, 1:]).ravel(order="F")
        return cost, gaps, first, others

    def derivatives(self, first, others):
        """Gradient and Hessian of the cost, and the derivatives of the gaps."""
        sizes = self.shooting
        x, size, n = sizes.size_x, sizes.size_x + sizes.size_p, sizes.intervals
        ends, gradients, hessians = others
        ends = ends.reshape(x, n, size).transpose(1, 0, 2)[:-1]
        hessians = hessians.reshape(size, n, size).transpose(1, 0, 2)
        hessians[0, range(sizes.joints), range(sizes.joints)] += 1 / SIGMA**2
        gradients[: sizes.joints, 0] += first / SIGMA
        gradient = np.concatenate([gradients[x:].sum(axis=1), gradients[:x].ravel(order="F")])
        of_states = block_diag(hessians[:, :x, :x])
        across = csc_matrix(hessians[:, :x, x:].reshape(n * x, -1))
        hessian = bmat([[hessians[:, x:, x:].sum(axis=0), across.T], [across, of_states]])
        from_states = bmat([[block_diag(ends[:, :, :x]), csc_matrix(((n - 1) * x, x))]])
        to_states = eye((n - 1) * x, n * x, k=x)
        from_p = csc_matrix(ends[:, :, x:].reshape((n - 1) * x, -1))
        return gradient, hessian, bmat([[from_p, from_states - to_states]])

    def stage(self, unknowns, bounds, softness, tolerance):
        """Iterates until p changes by less than `tolerance`, relative. `softness`: 1 or 0 (exact).

        Returns unknowns, cost, iterations and whether it ended before the iteration limit.
        """
        slack, weight = softness * self.gaps**2, 0.0

        def penalty(gaps):
            return (gaps @ (gaps / slack)) / 2 if softness else weight * np.abs(gaps).sum()

        for iteration in range(1, MOST_ITERATIONS + 1):
            cost, gaps, first, others = self.evaluate(self.sensitivities, unknowns)
            gradient, hessian, slopes = self.derivatives(first, others)
            system = csc_matrix(bmat([[hessian, slopes.T], [slopes, diags(-slack)]]))
            solution = splu(system).solve(-np.concatenate([gradient, gaps]))
            step = np.clip(unknowns + solution[: unknowns.size], *bounds) - unknowns
            weight = max(weight, 1.1 * np.abs(solution[unknowns.size :]).max())
            merit, length = cost + penalty(gaps), 1.0
            while length > 1e-6:
                candidate = unknowns + length * step
                cost, gaps, *_ = self.evaluate(self.values, candidate)
                if cost + penalty(gaps) <= merit * (1 + 1e-9):
                    break
                length /= 2
            unknowns = candidate
            if length * np.abs(step[: self.shooting.size_p]).max() < tolerance:
                return unknowns, cost, iteration, True
        return unknowns, cost, MOST_ITERATIONS, False

    def __call__(self):
        """Solves from the start: (p, cost, iterations, ended well)."""
        start, *bounds = (np.array(v).ravel() for v in start_and_bounds(self.shooting))
        unknowns, _, soft, _ = self.stage(start, bounds, 1, SOFT_TOLERANCE)
        unknowns, cost, exact, well = self.stage(unknowns, bounds, 0, TOLERANCE)
        return self.unpack(unknowns)[0], cost, soft + exact, well


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=problems.PROBLEMS)
    parser.add_argument("recording", help="CSV of problems.record()")
    parser.add_argument("--solver", choices=("exact", "gauss-newton", "loop"), required=True)
    parser.add_argument("--jit", action="store_true", help="compile CasADi's functions as C")
    arguments = parser.parse_args()

    problem = problems.PROBLEMS[arguments.problem]
    stopwatch = result.Stopwatch()
    shooting = Shooting(problem, readings.load(arguments.recording, problem.joints, STEP_S))
    if arguments.solver == "loop":
        solve = GaussNewton(shooting, arguments.jit)
    else:
        solve = ipopt(shooting, arguments.solver == "exact", arguments.jit)
    setup = stopwatch.lap()
    p, cost, iterations, well = solve()
    rmse = SIGMA * math.sqrt(2 * cost / shooting.readings)
    found = [value * parameter.scale for value, parameter in zip(p, problem.parameters)]
    result.write(setup, stopwatch.lap(), iterations, well, rmse, found)


if __name__ == "__main__":
    main()
