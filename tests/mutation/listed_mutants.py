#!/usr/bin/env python3
"""Injects plausible mistakes into the sources, one at a time, and counts those that a test detects.

    listed_mutants.py --check           checks that every mutant applies (in every test run)
    listed_mutants.py                   runs all of them in a copy of the tree
    listed_mutants.py --area safety --only jump    runs those of an area with a word in the title

Mutants are listed in <area>.mutants beside this file:

    # comment
    target daq_tests                       the test program of the mutants below
    filter SafetyMonitor.*                 and its fast tests, as --gtest_filter; may be repeated
    file daq/safety/safety_limits.cpp
    title The lower angle bound never trips.
    - if (joint.angle_rad < bounds.angle_rad_min) {
    + if (false) {

The lines marked - must occur in the file exactly once; line breaks and indentation do not matter.
Several lines may be marked. A mutant that does not compile, or whose tests fail without it, is an
error of the list and not a success.
"""

import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_SECONDS_MAX = 60  # then a mutant that hangs its tests counts as detected


@dataclasses.dataclass
class Mutant:
    area: str
    target: str
    filter: str
    file: str
    title: str
    line: int
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return f"{self.area}:{self.line} {self.file}: {self.title}"

    def apply(self, text):
        """The text with the mistake; raises unless it fits in exactly one place."""
        pattern = r"\s+".join(re.escape(word) for word in " ".join(self.old).split())
        places = list(re.finditer(pattern, text))
        if len(places) != 1:
            raise ValueError(f"{self}: stands in the file {len(places)} times, must be once")
        changed = "\n".join(self.new)
        if " ".join(changed.split()) == " ".join(places[0].group().split()):
            raise ValueError(f"{self}: changes nothing")
        return text[: places[0].start()] + changed + text[places[0].end() :]


def read_area(path):
    mutants, target, tests, file = [], None, None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, _, value = line.partition(" ")
        if not line.strip() or key == "#":
            continue
        if key == "target":
            target, tests = value.strip(), None
        elif key == "filter":
            tests = value.strip()
        elif key == "file":
            file = value.strip()
        elif key == "title":
            if None in (target, tests, file):
                sys.exit(f"{path}:{number}: a title needs a target, a filter and a file before it")
            mutants.append(Mutant(path.stem, target, tests, file, value.strip(), number))
        elif key == "-":
            mutants[-1].old.append(value)
        elif key == "+":
            mutants[-1].new.append(value)
        else:
            sys.exit(f"{path}:{number}: begins with '{key}'; use one of target, filter, file, "
                     "title, -, +, #")
    return mutants


def read_mutants(arguments):
    mutants = []
    for path in sorted(pathlib.Path(__file__).parent.glob("*.mutants")):
        if not arguments.area or path.stem in arguments.area.split(","):
            mutants += [m for m in read_area(path) if arguments.only.lower() in m.title.lower()]
    if not mutants:
        sys.exit("listed_mutants.py: no mutant is called so; look into tests/mutation/*.mutants")
    return mutants


def check(mutants):
    """Applies each to the sources in memory; returns the errors."""
    faults = []
    for mutant in mutants:
        try:
            mutant.apply((ROOT / mutant.file).read_text())
        except (ValueError, OSError) as fault:
            faults.append(str(fault))
    return faults


class Scratch:
    """A copy of the tree with its own build; unchanged sources keep their time stamps."""

    def __init__(self, folder):
        self.tree = folder
        self.build = folder / "build"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            source, copy = ROOT / name, folder / name
            if not source.is_file():
                continue
            content = source.read_bytes()
            if name == "CMakeLists.txt":
                # The compiler may warn of a mistake; only the tests count here.
                content = content.replace(b" -Werror)", b" -w)")
            if copy.exists() and copy.read_bytes() == content:
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
            shutil.copymode(source, copy)
        subprocess.run(["cmake", "-S", folder, "-B", self.build, "-G", "Ninja",
                        "-DCMAKE_BUILD_TYPE=Release", "-DRIG_BENCH=OFF", "-DRIG_TESTS=ON",
                        "--log-level=WARNING"], check=True, stdout=subprocess.DEVNULL)

    def make(self, target):
        """Returns True, or the compiler's output."""
        made = subprocess.run(["cmake", "--build", self.build, "--target", target],
                              capture_output=True, text=True)
        return True if made.returncode == 0 else made.stdout[-3000:] + made.stderr[-1000:]

    def passes(self, mutant):
        """Returns True if the tests pass, None if they hang."""
        try:
            tested = subprocess.run(
                [self.build / "bin" / mutant.target, f"--gtest_filter={mutant.filter}",
                 "--gtest_fail_fast", "--gtest_brief=1"],
                capture_output=True, text=True, errors="replace", timeout=TEST_SECONDS_MAX,
                cwd=self.build)
        except subprocess.TimeoutExpired:
            return None
        if tested.returncode == 0 and "Running 0 tests" in tested.stdout:
            sys.exit(f"{mutant}: no test of {mutant.target} is called {mutant.filter}")
        return tested.returncode == 0


def prepare(scratch, mutants):
    """Builds the targets, and checks that the tests pass without a mistake."""
    for target in dict.fromkeys(m.target for m in mutants):
        made = scratch.make(target)
        if made is not True:
            sys.exit(f"listed_mutants.py: {target} does not build without a mutant:\n{made}")
    for mutant in {(m.target, m.filter): m for m in mutants}.values():
        if not scratch.passes(mutant):
            sys.exit(f"listed_mutants.py: {mutant.target} --gtest_filter={mutant.filter} fails "
                     "without a mutant")


def run(scratch, mutants):
    """Runs each mutant once; returns the detected, the undetected and the uncompilable ones."""
    noticed, unnoticed, broken = [], [], []
    for mutant in mutants:
        path = scratch.tree / mutant.file
        original = path.read_text()
        started = time.monotonic()
        try:
            path.write_text(mutant.apply(original))
            made = scratch.make(mutant.target)
            if made is not True:
                broken.append(mutant)
                verdict = "DOES NOT COMPILE"
                print(made, file=sys.stderr)
            else:
                passed = scratch.passes(mutant)
                (unnoticed if passed else noticed).append(mutant)
                verdict = {True: "UNNOTICED", False: "noticed", None: "hangs"}[passed]
        finally:
            path.write_text(original)
        print(f"{verdict:10} {time.monotonic() - started:5.1f} s  {mutant}", flush=True)
    return noticed, unnoticed, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only see whether all apply")
    parser.add_argument("--area", help="names of .mutants files, with commas between")
    parser.add_argument("--only", default="", help="part of the title of those to run")
    parser.add_argument("--scratch", type=pathlib.Path, default=ROOT.parent / "rigcal-mutants",
                        help="the copy of the tree, kept for the next time (default: %(default)s)")
    arguments = parser.parse_args()
    mutants = read_mutants(arguments)
    faults = check(mutants)
    if faults:
        sys.exit("\n".join(faults))
    if arguments.check:
        print(f"{len(mutants)} mutants apply")
        return
    started = time.monotonic()
    scratch = Scratch(arguments.scratch.resolve())
    prepare(scratch, mutants)
    built = time.monotonic()
    noticed, unnoticed, broken = run(scratch, mutants)
    print(f"\n{'area':12} noticed")
    for area in dict.fromkeys(m.area for m in mutants):
        hits, total = (sum(m.area == area for m in list_) for list_ in (noticed, mutants))
        print(f"{area:12} {hits} of {total} ({100 * hits / total:.0f} %)")
    print(f"{'all':12} {len(noticed)} of {len(mutants)} "
          f"({100 * len(noticed) / len(mutants):.0f} %); first build "
          f"{built - started:.0f} s, mutants {time.monotonic() - built:.0f} s")
    sys.exit(1 if unnoticed or broken else 0)


if __name__ == "__main__":
    main()
