#!/usr/bin/env python3
"""Makes random mistakes (mutants) in a module, and counts those that a test detects.

    mutate.py --module daq/safety --count 100 --seed 7
    mutate.py --module estimator/fit --count 300 --programs 'estimator_.*' --json out.json

Mutants are made from the syntax tree, chosen by the seed and spread over operators: boundary of a
comparison, negated condition, && for ||, dropped term of a condition, sign of a term, dropped
statement, call, reset, break or early return, dropped abs, min, max or clamp, constant changed by
one, arguments of one type swapped. All mutants are compiled once; the environment variable
RIG_MUTANT chooses one. A run of each test without mutants records the mutants that the test
reaches. Each mutant then runs only the tests that reach it, fastest first, until one fails. A test
that takes five times as long as without a mutant, and five seconds, detects it.

equivalent_mutants.txt lists mutants that cannot change the behaviour; they are left out.
Needs Debian's python3-clang-16.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import sys
import time

import mutant_build
import mutant_operators
import mutant_runs
import mutant_schemata

SPARE = 1.25  # mutants chosen for each wanted one, as some do not compile or are equivalent
EQUIVALENTS = pathlib.Path(__file__).with_name("equivalent_mutants.txt")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", required=True, help="folder of the sources, as daq/safety")
    parser.add_argument("--count", type=int, default=100, help="number of mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the choice")
    parser.add_argument("--headers", action="store_true", help="also mutate headers; everything "
                        "that includes them is compiled again")
    parser.add_argument("--programs", help="regular expression of test programs; by default all "
                        "that contain the module")
    parser.add_argument("--without", metavar="TESTS", help="regular expression of names of tests "
                        "that are left out, to compare scores")
    parser.add_argument("--only", type=int, action="append", metavar="N",
                        help="number of a mutant to try; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="file for all outcomes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at once")
    parser.add_argument("--seconds-max", type=float, default=60.0,
                        help="normal time of the tests that one mutant runs (default: %(default)s)")
    parser.add_argument("--scratch", type=pathlib.Path,
                        default=mutant_build.ROOT / "build-mutation",
                        help="folder of the copy of the tree, kept for the next time")
    parser.add_argument("--make", default="nice -n 19 ninja", help="command that builds targets")
    return parser.parse_args()


def read_equivalents(path):
    """Reasons by key of the mutant. Each entry has the lines file, function, operator, -, + and
    reason; lines that start with # are comments."""
    reasons, entry = {}, {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, _, value = line.partition(" ")
        if not line.strip() or key == "#":
            continue
        if key not in ("file", "function", "operator", "-", "+", "reason"):
            raise ValueError(f"{path}:{number}: unknown keyword \"{key}\"")
        entry[key] = value.strip()
        if key == "reason":
            reasons[tuple(entry.get(k, "") for k in ("file", "function", "operator", "-", "+"))] \
                = entry.pop(key)
    return reasons


def find_in_units(copy, units, originals):
    found = set()
    for path, options, _ in units:
        found |= set(mutant_operators.find_mutants(
            path, options, originals, lambda name: str(pathlib.Path(name).relative_to(copy.tree))))
    return found


def make_mutants(copy, arguments):
    """Returns the chosen mutants by number, and the units that contain them."""
    copy.update({}, kept=arguments.module)  # rebuilds nothing if the choice is the same
    copy.configure()
    originals = copy.module_sources(arguments.module)
    units = copy.units_of(originals)
    try:
        found = find_in_units(copy, units, originals)
    except ValueError:  # generated headers are missing
        copy.prepare(units)
        found = find_in_units(copy, units, originals)
    if not arguments.headers:
        found = {mutant for mutant in found if not mutant.file.endswith((".h", ".hpp"))}
    reasons = read_equivalents(EQUIVALENTS)
    chosen = mutant_schemata.choose(found, int(SPARE * arguments.count) + 1, arguments.seed)
    equivalent = [m for m in chosen[: arguments.count] if m.key() in reasons]
    ranked = dict(enumerate((m for m in chosen if m.key() not in reasons), 1))
    compiled = mutant_schemata.remove_uncompilable(
        copy.tree, originals, ranked, [unit[:2] for unit in units])
    mutants = {n: compiled[n] for n in sorted(compiled)[: arguments.count]}
    print(f"{arguments.module}: {len(found)} places, {len(mutants)} mutants chosen by seed "
          f"{arguments.seed}; {len(ranked) - len(compiled)} of {len(ranked)} did not compile, "
          f"{len(equivalent)} are equivalent", flush=True)
    mutated = mutant_schemata.compose_all(copy.tree, originals, mutants)
    copy.update({name: source.text for name, source in mutated.items()})
    return mutants, units, len(equivalent)


def describe(mutant):
    return (f"{mutant.file}:{mutant.line}\nfile {mutant.file}\nfunction {mutant.function}\n"
            f"operator {mutant.operator}\n- {mutant.before}\n+ {mutant.after}")


def percent(part, whole):
    return f"{part} of {whole} ({100 * part / max(whole, 1):.0f} %)"


def report(mutants, outcomes):
    """Prints survivors, and the score by operator; returns the number of detected mutants."""
    survivors = [n for n, outcome in outcomes.items() if not outcome.detected_by]
    for number in survivors:
        outcome = outcomes[number]
        tests = (f"{outcome.reached_by} tests reach it"
                 + (f", {outcome.skipped} of them too slow to run" if outcome.skipped else "")
                 if outcome.reached_by else "no test reaches it")
        print(f"\nnot detected: mutant {number}, {tests}, {describe(mutants[number])}")
    print(f"\n{'operator':32} detected")
    total, detected = collections.Counter(), collections.Counter()
    for number, outcome in outcomes.items():
        total[mutants[number].operator] += 1
        detected[mutants[number].operator] += bool(outcome.detected_by)
    for operator in sorted(total):
        print(f"{operator:32} {percent(detected[operator], total[operator])}")
    print(f"{'all':32} {percent(len(outcomes) - len(survivors), len(outcomes))}")
    return len(outcomes) - len(survivors)


def write_json(arguments, mutants, outcomes, detected, equivalent, times):
    rows = [{"number": n, "file": m.file, "line": m.line, "function": m.function,
             "operator": m.operator, "before": m.before, "after": m.after,
             "detected_by": outcomes[n].detected_by, "hangs": outcomes[n].hangs,
             "tests": outcomes[n].reached_by, "tests_skipped": outcomes[n].skipped,
             "unstable_tests": outcomes[n].unstable}
            for n, m in mutants.items() if n in outcomes]
    arguments.json.write_text(json.dumps(
        {"module": arguments.module, "seed": arguments.seed, "mutants": len(rows),
         "detected": detected, "equivalent": equivalent, "seconds": times, "list": rows},
        indent=1) + "\n")


def main():
    arguments = parse_arguments()
    if mutant_operators.cindex is None:
        sys.exit("mutate.py: needs Python's clang bindings: apt-get install python3-clang-16")
    missing = mutant_runs.require_tools()
    if missing:
        sys.exit(f"mutate.py: needs {', '.join(missing)}")
    times, started = {}, time.monotonic()

    def lap(name):
        times[name] = round(time.monotonic() - started - sum(times.values()), 1)

    try:
        copy = mutant_build.Copy(arguments.scratch.resolve(), arguments.make)
        mutants, units, equivalent = make_mutants(copy, arguments)
        lap("choice")
        programs = copy.programs_with(units, arguments.programs)
        print(f"test programs: {', '.join(programs)}", flush=True)
        copy.make_targets(programs)
        lap("build")
        tests, failing = mutant_runs.trace_all(
            [mutant_runs.Test(*test) for test in copy.tests_of(programs)
             if not (arguments.without and re.search(arguments.without, test[0]))],
            arguments.jobs)
    except (mutant_build.BuildError, ValueError, OSError) as error:
        sys.exit(f"mutate.py: {error}")
    lap("tests without mutants")
    print(f"{len(tests)} tests pass without a mutant", flush=True)
    for name in failing:
        print(f"left out, because it fails without a mutant: {name}")

    def progress(number, outcome):
        mutant = mutants[number]
        word = ("hangs" if outcome.hangs else "detected") if outcome.detected_by else "NOT DETECTED"
        print(f"{word:12} {number:4} {mutant.file}:{mutant.line} {mutant.operator}"
              f" {outcome.detected_by}", flush=True)
        for name in outcome.unstable:
            print(f"unstable: {name} failed once with mutant {number}, and then passed")

    numbers = [n for n in mutants if not arguments.only or n in arguments.only]
    outcomes = mutant_runs.try_all(numbers, tests, arguments.jobs, arguments.seconds_max, progress)
    lap("mutants")
    detected = report(mutants, outcomes)
    print(", ".join(f"{name} {seconds:.0f} s" for name, seconds in times.items()))
    if arguments.json:
        write_json(arguments, mutants, outcomes, detected, equivalent, times)
    sys.exit(0 if detected == len(outcomes) else 1)


if __name__ == "__main__":
    main()
