"""A copy of the tree with its own build, in which a module contains mutants."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = (".cpp", ".hpp", ".c", ".h")
COMPILER = re.compile(r"(clang|clang\+\+|gcc|g\+\+|cc|c\+\+)(-\d+)?")


class BuildError(Exception):
    """The copy cannot be configured or built."""


class Copy:
    """The tree in `folder`/tree with its build in `folder`/tree/build. Files that do not change
    keep their time stamps. The build has the settings of the preset "release", so that ccache
    provides what is not mutated."""

    def __init__(self, folder, make):
        self.tree = folder / "tree"
        self.build = self.tree / "build"
        self.make = shlex.split(make)

    def update(self, sources, kept="/"):
        """Copies all files. sources: other contents [bytes] by absolute path in the copy; kept:
        folder whose files stay as they are."""
        listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT)
        names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
        for name in names:
            copy = self.tree / name
            content = sources.get(str(copy), None)
            if copy.exists() and name.startswith(kept + "/"):
                continue
            write_if_changed(copy, (ROOT / name).read_bytes() if content is None else content)
            shutil.copymode(ROOT / name, copy)
        for old in sorted(self.tree.rglob("*")) if self.tree.exists() else []:
            inside = old.relative_to(self.tree)
            if inside.parts[0] != "build" and old.is_file() and str(inside) not in set(names):
                old.unlink()

    def configure(self):
        if (self.build / "build.ninja").exists():
            run(["ninja", "build.ninja"], self.build)  # configures again if a CMake file changed
            return
        run(["cmake", "--preset", "release", "-DRIG_TESTS=ON", "-DRIG_BENCH=OFF",
             "-DRIG_PYTHON=OFF", "--log-level=WARNING"], self.tree)

    def make_targets(self, targets):
        run([*self.make, *targets], self.build)

    def module_sources(self, module):
        """Contents [bytes] of the module's files, as in the original tree, by path in the copy."""
        files = [path for path in sorted((ROOT / module).rglob("*")) if path.suffix in SOURCES]
        if not files:
            raise BuildError(f"{module} contains no sources")
        return {str(self.tree / path.relative_to(ROOT)): path.read_bytes() for path in files}

    def units_of(self, sources):
        """Translation units that compile the sources: (path, arguments, object file)."""
        units = []
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            path = pathlib.Path(entry["directory"], entry["file"]).resolve()
            text = path.read_text(errors="replace") if path.parent.name == "Unity" else ""
            included = set(re.findall(r'#include "([^"]+)"', text)) | {str(path)}
            if included & set(sources):
                units.append((str(path), *compile_arguments(entry)))
        if not units:
            raise BuildError("no target compiles the module")
        return units

    def prepare(self, units):
        """Generates the headers that the translation units include."""
        targets = {re.search(r"CMakeFiles/([^/]+)\.dir/", object_).group(1)
                   for _, _, object_ in units}
        self.make_targets([f"cmake_object_order_depends_target_{name}" for name in sorted(targets)])

    def programs_with(self, units, wanted):
        """Test programs (names of targets) that link one of the units' object files. With a regular
        expression of names, also programs whose tests run a program that does."""
        objects = {object_ for _, _, object_ in units}
        outputs = run(["ninja", "-t", "targets", "all"], self.build)
        programs = sorted(re.findall(r"^bin/(\w+_tests): CXX_EXECUTABLE", outputs, re.M))
        if wanted:
            found = [program for program in programs if re.fullmatch(wanted, program) and
                     objects & set(run(["ninja", "-t", "inputs", f"bin/{program}"],
                                       self.build).split())]
        else:
            libraries = {line.strip() for object_ in objects for line in
                         run(["ninja", "-t", "query", object_], self.build).splitlines()
                         if line.endswith(".a")}
            found = [program for program in programs if (objects | libraries) & {
                line.strip(" |") for line in
                run(["ninja", "-t", "query", f"bin/{program}"], self.build).splitlines()
                if "||" not in line}]
        if not found:
            raise BuildError("no test program contains the module")
        return found

    def tests_of(self, programs):
        """Tests as ctest lists them: (name, command, folder, environment). Leaves out tests that
        must run alone, because they fail at times beside others."""
        listed = json.loads(run(["ctest", "--show-only=json-v1"], self.build))
        wanted = {str(self.build / "bin" / program) for program in programs}
        tests = []
        for test in listed["tests"]:
            command = test.get("command", [""])
            properties = {entry["name"]: entry["value"] for entry in test["properties"]}
            if command[0] in wanted and not properties.get("RUN_SERIAL"):
                variables = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
                tests.append((test["name"], command,
                              properties.get("WORKING_DIRECTORY", str(self.build)), variables))
        return tests


def compile_arguments(entry):
    """Arguments of the compiler without its name, launcher and output, and the object file."""
    words = shlex.split(entry["command"])
    first = next(n for n, word in enumerate(words) if COMPILER.fullmatch(pathlib.Path(word).name))
    words = words[first + 1 :]
    arguments, skip = [], False
    for word in words:
        if skip or word == "-c" or word == entry["file"]:
            skip = False
        elif word == "-o":
            skip = True
        else:
            arguments.append(word)
    object_ = words[words.index("-o") + 1]
    return [*arguments, "-w", "-Wno-c++11-narrowing", "-ferror-limit=0"], object_


def write_if_changed(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise BuildError(f"{shlex.join(map(str, command))} failed:\n"
                         f"{done.stdout[-3000:]}{done.stderr[-1500:]}")
    return done.stdout
