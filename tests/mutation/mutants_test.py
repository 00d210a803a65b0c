"""Tests of the mutants that mutate.py makes, on the files of sample/. Exit code 77: skipped."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import mutant_operators
import mutant_runs
import mutant_schemata
import mutate

FOLDER = pathlib.Path(__file__).resolve().parent
ARGUMENTS = ["-std=c++20", "-w", "-Wno-c++11-narrowing"]

# Every mutant of sample/: line, operator, before, after. Literals are listed once below.
EXPECTED = {
    ("motor.cpp", 28, "and for or", "speed < limit_ && torque >= 0.5",
     "(speed < limit_) || (torque >= 0.5)"),
    ("motor.cpp", 28, "condition negated", "speed < limit_ && torque >= 0.5",
     "!(speed < limit_ && torque >= 0.5)"),
    ("motor.cpp", 28, "condition term dropped", "speed < limit_ && torque >= 0.5", "torque >= 0.5"),
    ("motor.cpp", 28, "condition term dropped", "speed < limit_ && torque >= 0.5",
     "speed < limit_"),
    ("motor.cpp", 28, "comparison boundary", "speed < limit_", "speed <= limit_"),
    ("motor.cpp", 28, "comparison boundary", "torque >= 0.5", "torque > 0.5"),
    ("motor.cpp", 28, "early return dropped", "return 1;", ""),
    ("motor.cpp", 29, "statement dropped", "speed_ = speed;", ""),
    ("motor.cpp", 30, "statement dropped", "last_ = torque - offset_;", ""),
    ("motor.cpp", 30, "sign changed", "torque - offset_", "torque + offset_"),
    ("motor.cpp", 31, "reset dropped", "total_ = 0;", ""),
    ("motor.cpp", 32, "call dropped", "count_step(mode, slots[0]);", ""),
    ("motor.cpp", 32, "arguments swapped", "count_step(mode, slots[0])",
     "count_step(slots[0], mode)"),
    ("motor.cpp", 34, "condition negated", "slot == mode", "!(slot == mode)"),
    ("motor.cpp", 34, "break or continue dropped", "break;", ""),
    ("motor.cpp", 38, "statement dropped", "armed_ = true;", ""),
    ("motor.cpp", 38, "constant changed", "true", "false"),
    ("motor.cpp", 39, "break or continue dropped", "break;", ""),
    ("motor.cpp", 41, "statement dropped", "slots[1] = scaled_slot<3>(following_slot(mode));", ""),
    ("motor.cpp", 43, "abs, min, max or clamp dropped", "std::clamp(std::abs(last_), 0.25, limit_)",
     "std::abs(last_)"),
    ("motor.cpp", 43, "abs, min, max or clamp dropped", "std::abs(last_)", "last_"),
    ("motor.hpp", 8, "and for or", "!armed_ || total_ <= 0", "(!armed_) && (total_ <= 0)"),
    ("motor.hpp", 8, "condition term dropped", "!armed_ || total_ <= 0", "!armed_"),
    ("motor.hpp", 8, "condition term dropped", "!armed_ || total_ <= 0", "total_ <= 0"),
    ("motor.hpp", 8, "comparison boundary", "total_ <= 0", "total_ < 0"),
}
LITERALS = {("motor.cpp", 28): ["0.5", "1"], ("motor.cpp", 31): ["0"], ("motor.cpp", 32): ["0"],
            ("motor.cpp", 41): ["1"], ("motor.cpp", 43): ["0.25"], ("motor.hpp", 8): ["0"]}
for (name, row), texts in LITERALS.items():
    for text in texts:
        EXPECTED |= {(name, row, "constant changed", text, f"{text} {step} 1") for step in "+-"}

# Prints what the motor returns, and whether it is idle.
MAIN = """
#include "tests/mutation/sample/motor.hpp"
#include <cstdio>
int main() {
  sample::Motor motor;
  std::printf("%d ", motor.step(3.0, 3.5, 2));
  std::printf("%d ", motor.step(1.0, 0.5, 1));
  std::printf("%d ", motor.step(3.0, -2.0, 1));
  std::printf("%d", motor.is_idle());
}
"""
PRINTED = {"": "2 1 2 1",
           "std::abs(last_) -> last_": "2 1 0 1",
           "std::clamp(std::abs(last_), 0.25, limit_) -> std::abs(last_)": "3 1 2 1",
           "speed < limit_ && torque >= 0.5 -> (speed < limit_) || (torque >= 0.5)": "1 1 2 1",
           "torque >= 0.5 -> torque > 0.5": "2 0 2 1",
           "return 1; -> ": "2 0 2 1",
           "total_ = 0; -> ": "2 1 2 0",
           "last_ = torque - offset_; -> ": "0 1 0 1"}


class MutantsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.tree = pathlib.Path(holder.name).resolve()
        copy = self.tree / "tests/mutation"
        shutil.copytree(FOLDER / "sample", copy / "sample")
        shutil.copy(FOLDER / "mutant_switch.h", self.tree / mutant_schemata.SWITCH)
        (self.tree / "main.cpp").write_text(MAIN)
        self.originals = {str(path): path.read_bytes()
                          for path in (copy / "sample").iterdir()}
        arguments = [*ARGUMENTS, f"-I{self.tree}"]
        self.units = [(str(copy / "sample/motor.cpp"), arguments)]

    def find(self):
        (path, arguments), = self.units
        return mutant_operators.find_mutants(path, arguments, self.originals,
                                             lambda name: os.path.relpath(name, self.tree))

    # Detects an operator that is missing or writes another text, and mutants of constant
    # expressions, template arguments, macros and member initializers.
    def test_each_operator_writes_the_expected_text(self):
        found = {(os.path.basename(m.file), m.line, m.operator, m.before, m.after)
                 for m in self.find()}
        self.assertEqual(sorted(found ^ EXPECTED), [])

    # Detects switches that change the program without RIG_MUTANT, that choose the wrong mutant, or
    # that record the wrong ones.
    def test_each_mutant_is_chosen_by_its_number(self):
        mutants = dict(enumerate(self.find(), 1))
        self.assertEqual(mutants, mutant_schemata.remove_uncompilable(
            self.tree, self.originals, mutants, self.units))
        for name, source in mutant_schemata.compose_all(self.tree, self.originals,
                                                        mutants).items():
            pathlib.Path(name).write_bytes(source.text)
        subprocess.run(["clang++-16", *ARGUMENTS, "-I", self.tree, "main.cpp",
                        "tests/mutation/sample/motor.cpp", "-o", "program"], cwd=self.tree,
                       check=True)

        def run(**variables):
            return subprocess.run([self.tree / "program"], env={**os.environ, **variables},
                                  capture_output=True, text=True, check=True).stdout

        trace = self.tree / "trace"
        printed = {"": run(RIG_MUTATION_TRACE=str(trace))}
        reached = list(map(int, trace.read_text().split()))
        self.assertEqual(len(reached), len(set(reached)))
        for number, mutant in mutants.items():
            change = f"{mutant.before} -> {mutant.after}"
            if change in PRINTED:
                self.assertIn(number, reached)
                printed[change] = run(RIG_MUTANT=str(number))
        self.assertEqual(printed, PRINTED)
        self.assertEqual(run(), PRINTED[""])

    # Detects mutants that do not compile and stay, or that take others with them.
    def test_mutants_that_do_not_compile_are_removed(self):
        mutants = dict(enumerate(self.find(), 1))
        good = mutants[1]
        wrap = mutant_operators.Wrap(good.wraps[0].start, good.wraps[0].end,
                                     "(mutant_is(@NUMBER@) ? (unknown) : (", "))")
        broken = mutant_operators.dataclasses.replace(good, wraps=(wrap,))
        kept = mutant_schemata.remove_uncompilable(
            self.tree, self.originals, {**mutants, len(mutants) + 1: broken}, self.units)
        self.assertEqual(sorted(kept), sorted(mutants))

    # Detects a choice that depends on more than the seed, or that leaves operators out.
    def test_choice_depends_on_the_seed_and_uses_all_operators(self):
        mutants = self.find()
        operators = {mutant.operator for mutant in mutants}
        first = mutant_schemata.choose(mutants, len(operators), 7)
        self.assertEqual(first, mutant_schemata.choose(list(reversed(mutants)), len(operators), 7))
        self.assertNotEqual(first, mutant_schemata.choose(mutants, len(operators), 8))
        self.assertEqual({mutant.operator for mutant in first}, operators)

    # Detects an entry that is not read, and one that no longer names a file of the tree.
    def test_equivalent_mutants_name_files_and_reasons(self):
        for key, reason in mutate.read_equivalents(mutate.EQUIVALENTS).items():
            self.assertTrue((FOLDER.parents[1] / key[0]).is_file(), key)
            self.assertTrue(reason, key)
        path = self.tree / "list.txt"
        mutant = self.find()[0]
        path.write_text("# comment\n" + mutate.describe(mutant).split("\n", 1)[1] +
                        "\nreason none\n")
        self.assertEqual(mutate.read_equivalents(path), {mutant.key(): "none"})


class RunsTest(unittest.TestCase):
    """Shell commands as tests. Each writes its name to a file when it runs with a mutant."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def make_test(self, name, seconds, command, reached=(1, 2, 3)):
        script = f'[ -z "$RIG_MUTANT" ] || echo {name} >> ran; {command}'
        return mutant_runs.Test(name, ["sh", "-c", script], str(self.folder), {}, seconds,
                                frozenset(reached))

    def names_of_runs(self):
        return (self.folder / "ran").read_text().split()

    # Detects tests that run although they do not reach the mutant or another test failed already,
    # and a failure that counts for the wrong mutant.
    def test_tests_run_in_order_until_one_fails_twice(self):
        tests = [self.make_test("blind", 0.1, "false", reached=[1]),
                 self.make_test("passing", 0.2, "true"),
                 self.make_test("failing", 0.3, '[ "$RIG_MUTANT" != 2 ]'),
                 self.make_test("late", 0.4, "false")]
        outcome = mutant_runs.try_mutant(2, tests, 60)
        self.assertEqual((outcome.detected_by, outcome.hangs, outcome.reached_by),
                         ("failing", False, 3))
        self.assertEqual(self.names_of_runs(), ["passing", "failing", "failing"])
        self.assertEqual(mutant_runs.try_mutant(3, tests, 60).detected_by, "late")

    # Detects survivors that count as detected: by chance, without any test, or without time.
    def test_unstable_and_skipped_tests_detect_nothing(self):
        tests = [self.make_test("unstable", 0.1, "[ -e once ] || { touch once; false; }"),
                 self.make_test("slow", 50.0, "false")]
        outcome = mutant_runs.try_mutant(1, tests, 10)
        self.assertEqual((outcome.detected_by, outcome.unstable, outcome.skipped),
                         ("", ("unstable",), 1))
        self.assertEqual(mutant_runs.try_mutant(4, tests, 10), mutant_runs.Outcome())

    # Detects a hanging test that is waited for, or that leaves processes behind.
    def test_hanging_test_detects_its_mutant(self):
        test = self.make_test("hanging", 0.0, "sleep 1000 & echo $! > child; wait")
        outcome = mutant_runs.try_mutant(1, [test], 10, grace_s=1.0)
        self.assertEqual((outcome.detected_by, outcome.hangs), ("hanging", True))
        child = int((self.folder / "child").read_text())
        status = pathlib.Path(f"/proc/{child}/stat")

        def has_ended():
            return not status.exists() or status.read_text().split()[2] == "Z"
        for _ in range(100):  # on a busy machine, a killed process ends a little later
            if has_ended():
                break
            time.sleep(0.1)
        self.assertTrue(has_ended())

    # Detects mutants that are not stored with the test that reaches them, and tests that fail.
    def test_trace_stores_reached_mutants_and_order(self):
        slow = self.make_test("slow", 0, 'sleep 0.3; echo 4 >> "$RIG_MUTATION_TRACE"')
        quick = self.make_test("quick", 0, "true")
        failing = self.make_test("failing", 0, "false")
        passing, names = mutant_runs.trace_all([slow, failing, quick], 2)
        self.assertEqual(([test.name for test in passing], names), (["quick", "slow"], ["failing"]))
        self.assertEqual((slow.reached, quick.reached), ({4}, frozenset()))


if __name__ == "__main__":
    if mutant_operators.cindex is None or not shutil.which("clang++-16"):
        print("skipped: needs python3-clang-16 and clang-16; run apt-get install python3-clang-16")
        sys.exit(77)
    unittest.main()
