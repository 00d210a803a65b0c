"""The time and result of a fit, as the JSON that compare.py reads."""

import json
import os
import time


class Stopwatch:
    """Wall and processor time [s], including compilers it started."""

    def __init__(self):
        self.last = self.now()

    @staticmethod
    def now():
        return time.perf_counter(), sum(os.times()[:4])

    def lap(self):
        """Wall and processor time since the last lap."""
        before, self.last = self.last, self.now()
        return tuple(now - then for now, then in zip(self.last, before))


def write(setup, solve, iterations, converged, rmse_rad, parameters):
    """Prints a result. `setup`, `solve`: laps of a stopwatch; parameters in the problem's order."""
    print(
        json.dumps(
            {
                "setup_s": setup,
                "solve_s": solve,
                "iterations": iterations,
                "converged": bool(converged),
                "rmse_rad": rmse_rad,
                "parameters": list(parameters),
            }
        )
    )
