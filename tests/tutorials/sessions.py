"""The shell and the Python prompt in which the commands of a page run."""

import os
import re
import select
import signal
import subprocess
import time

# Runs blocks as a Python prompt does: an expression statement prints its value.
PROMPT = r"""
import ast, os, sys, traceback
names = {"__name__": "__main__"}
done = int(sys.argv[1])
for line in sys.stdin:
    block, output = line.rstrip("\n").split("\t")
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    status = 0
    try:
        with open(block, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in tree.body:
            module = ast.Interactive([node])
            exec(compile(module, block, "single"), names)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os.write(done, b"%d\n" % status)
"""

# Runs a block in the session's shell, so that variables and the working folder persist. The trap
# lists and counts commands with a nonzero exit status. A setup may set
# ANSWERS to a file with answers to the questions of programs.
SHELL = """set -E
trap 'echo "exit status $?: $BASH_COMMAND" >&2; (( failures += 1 ))' ERR
run_block() { failures=0; . "$1" >"$2" 2>"$3" <"${ANSWERS:-/dev/null}"; echo "$failures" >&%d; }
"""


class Session:
    """A bash session and a Python session in one folder, ended with all their processes."""

    def __init__(self, folder, scratch, environment, time_limit_s):
        self._scratch = scratch
        self._environment = environment
        self._time_limit_s = time_limit_s
        self._count = 0
        self._python = None
        self._done, write_end = os.pipe()
        self._write_end = write_end
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[write_end], start_new_session=True)
        self._bash.stdin.write(SHELL % write_end)

    def run(self, language, text):
        """Returns (succeeded, output file, end of standard error) of one block."""
        self._count += 1
        block, output, errors = (self._scratch / f"{self._count}.{end}"
                                 for end in ("block", "out", "err"))
        block.write_text(text, encoding="utf-8")
        if language == "python":
            self._start_python()
            self._python.stdin.write(f"{block}\t{output}\n")
            self._python.stdin.flush()
            errors = self._scratch / "python.err"
        else:
            self._bash.stdin.write(f"run_block '{block}' '{output}' '{errors}'\n")
            self._bash.stdin.flush()
        status = self._wait()
        lines = errors.read_text(errors="replace").splitlines() if errors.exists() else []
        failed = [line for line in lines[:-20] if line.startswith("exit status ")]
        message = "\n".join(failed + lines[-20:])
        return status == "0", output, message if status is not None else (
            message + f"\nnot finished after {self._time_limit_s} s")

    def _wait(self):
        """Returns the number of failed commands, or None if the block did not end in time."""
        ready, _, _ = select.select([self._done], [], [], self._time_limit_s)
        return os.read(self._done, 100).decode().strip() if ready else None

    def _start_python(self):
        if self._python:
            return
        # The Python prompt starts where the shell is, with the variables that the shell exports.
        _, output, _ = self.run("sh", "pwd; env -0\n")
        folder, _, variables = output.read_text().partition("\n")
        environment = dict(re.findall(r"([^=\0]+)=([^\0]*)\0", variables))
        with open(self._scratch / "python.err", "w") as errors:
            self._python = subprocess.Popen(
                ["python3", "-c", PROMPT, str(self._write_end)], cwd=folder, env=environment,
                text=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
                pass_fds=[self._write_end])

    def end(self):
        """Ends both sessions and all background processes of the page."""
        if self._python:
            self._python.kill()
            self._python.communicate()
        for sent in (signal.SIGTERM, signal.SIGKILL):
            self._signal(sent)
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline and self._signal(0):
                self._bash.poll()
                time.sleep(0.02)
        self._bash.communicate()
        os.close(self._done)
        os.close(self._write_end)

    def _signal(self, number):
        """Sends a signal to all processes of the shell. Returns False if there are none."""
        try:
            os.killpg(self._bash.pid, number)
            return True
        except ProcessLookupError:
            return False
