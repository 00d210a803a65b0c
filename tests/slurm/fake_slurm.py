#!/usr/bin/env python3
"""Commands sbatch, squeue and scancel of a cluster that exists only in a folder, for tests.

Called by one of these names, with the folder in FAKE_SLURM. Tasks run at once, as processes of this
machine. Each call of squeue adds a line to the file `polls`. Files in the folder script the answers:

  silent   no command gets an answer of the controller
  refusal  sbatch refuses all jobs with this reason
  state    squeue reports this state for all tasks that run
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(os.environ["FAKE_SLURM"])


def option(name, default=""):
    return next((word.split("=", 1)[1] for word in sys.argv if word.startswith(name + "=")), default)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def new_number():
    """Returns a number that no other call of sbatch gets, even at the same time."""
    for number in range(1, 1000):
        try:
            (FOLDER / f"{number}.taken").open("x").close()
            return number
        except FileExistsError:
            continue
    sys.exit("sbatch: error: too many jobs")


def sbatch():
    if (FOLDER / "refusal").exists():
        sys.exit("sbatch: error: " + (FOLDER / "refusal").read_text())
    number = new_number()
    output = option("--output").replace("%a", "0").replace("%%", "%")
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_ID": str(number)}
    with open(output, "ab") as stream:
        process = subprocess.Popen(["sh", "-c", 'sh "$1"; echo $? >"$2"', "sh", sys.argv[-1],
                                    FOLDER / f"{number}.status"], stdin=subprocess.DEVNULL,
                                   stdout=stream, stderr=stream, env=environment,
                                   start_new_session=True)
    (FOLDER / f"{number}.job").write_text(f"{process.pid} {option('--job-name')}")
    print(number)


def jobs():
    for file in FOLDER.glob("*.job"):
        pid, name = file.read_text().split()
        yield file.stem, int(pid), name


def squeue():
    with open(FOLDER / "polls", "a", encoding="utf-8") as polls:
        polls.write(f"{time.time()}\n")
    state = FOLDER / "state"
    for number, pid, _ in jobs():
        if is_alive(pid):
            print(f"{number}|0|{state.read_text() if state.exists() else 'RUNNING'}|None")
        elif (status := FOLDER / f"{number}.status").exists():
            print(f"{number}|0|{'COMPLETED' if status.read_text().strip() == '0' else 'FAILED'}|None")


def scancel():
    for _, pid, name in jobs():
        if name == option("--jobname") and is_alive(pid):
            os.killpg(pid, signal.SIGTERM)


if (FOLDER / "silent").exists():
    sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
{"sbatch": sbatch, "squeue": squeue, "scancel": scancel}[Path(sys.argv[0]).name]()
