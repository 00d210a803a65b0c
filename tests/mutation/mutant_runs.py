"""Runs tests with and without a mutant."""

import concurrent.futures
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

LIMITS = ["prlimit", "--core=0", f"--fsize={1 << 31}", f"--as={16 << 30}"]


@dataclasses.dataclass
class Test:
    name: str
    command: list
    folder: str
    variables: dict
    seconds: float = 0.0
    reached: frozenset = frozenset()


@dataclasses.dataclass
class Outcome:
    detected_by: str = ""  # test that fails, or empty
    hangs: bool = False
    reached_by: int = 0  # number of tests that reach the mutant
    skipped: int = 0  # tests that did not run because the time was over
    unstable: tuple = ()  # tests that failed once, and then passed


def execute(test, variables, seconds_max):
    """Returns True if the test passes, False if it fails, None if it takes too long."""
    with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as temporary:
        environment = {**os.environ, **test.variables, "TMPDIR": temporary, **variables}
        process = subprocess.Popen([*LIMITS, *test.command], cwd=test.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(timeout=seconds_max) == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # also what the test left running
            except ProcessLookupError:
                pass
            process.wait()


def trace(test):
    """Runs a test without a mutant. Stores its time and the mutants that it reaches; returns
    whether it passes."""
    with tempfile.NamedTemporaryFile(prefix="mutant-trace-") as file:
        for _ in range(2):  # some tests fail at times on a busy machine
            started = time.monotonic()
            passes = execute(test, {"RIG_MUTATION_TRACE": file.name}, 600)
            test.seconds = time.monotonic() - started
            if passes:
                break
        test.reached = frozenset(map(int, pathlib.Path(file.name).read_text().split()))
    return passes is True


def trace_all(tests, jobs):
    """Returns the tests that pass, fastest first, and the names of those that do not."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        passes = list(pool.map(trace, tests))
    passing = sorted((test for test, passed in zip(tests, passes) if passed),
                     key=lambda test: test.seconds)
    return passing, [test.name for test, passed in zip(tests, passes) if not passed]


def try_mutant(number, tests, seconds_max, grace_s=5.0):
    """Runs the tests that reach a mutant, fastest first, until one fails.

    A failure counts if it happens twice, because some tests fail at times on a busy machine. A test
    that takes five times its normal time and grace_s fails.
    Tests that would exceed seconds_max of normal test time in sum are skipped.
    """
    outcome = Outcome()
    seconds = 0.0
    for test in tests:
        if number not in test.reached:
            continue
        outcome.reached_by += 1
        if outcome.detected_by:
            continue
        seconds += test.seconds
        if seconds > seconds_max and outcome.reached_by > 1:
            outcome.skipped += 1
            continue
        variables, longest = {"RIG_MUTANT": str(number)}, 5 * test.seconds + grace_s
        passes = execute(test, variables, longest)
        if passes is False and execute(test, variables, longest) is True:
            outcome.unstable += (test.name,)
        elif passes is not True:
            outcome.detected_by = test.name
            outcome.hangs = passes is None
    return outcome


def try_all(numbers, tests, jobs, seconds_max, report):
    """Returns outcomes by number; calls report(number, outcome) after each."""
    outcomes = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(try_mutant, number, tests, seconds_max): number
                   for number in numbers}
        for done in concurrent.futures.as_completed(waiting):
            number = waiting[done]
            outcomes[number] = done.result()
            report(number, outcomes[number])
    return dict(sorted(outcomes.items()))


def require_tools():
    """Names of missing programs."""
    return [name for name in ("prlimit", "ninja", "cmake", "ctest") if not shutil.which(name)]
