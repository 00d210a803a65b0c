"""Starts and stops a Slurm cluster of one machine for tests: one controller, two compute nodes.

The cluster has a folder, keys and ports of its own on the loopback interface, and needs neither
systemd nor cgroups. A keeper process starts all daemons and adopts all their descendants. It ends
every one of them when the cluster is stopped, or after an hour.

  slurm_cluster.py start FOLDER      starts it; clients need SLURM_CONF=FOLDER/slurm.conf
  slurm_cluster.py kill FOLDER NAME  kills a daemon: slurmctld, n1 or n2. Its tasks continue
  slurm_cluster.py lose FOLDER NODE  kills the daemon of a node and all of its tasks
  slurm_cluster.py run FOLDER NAME   starts a killed daemon again
  slurm_cluster.py stop FOLDER
"""

import ctypes
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

NODES = ("n1", "n2")
MEMORY_MB = 2000  # per node
LIFE_S = 3600
START_S = 60
PR_SET_CHILD_SUBREAPER = 36
PROGRAMS = {"munged": "munge", "mungekey": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd",
            "sbatch": "slurm-client", "squeue": "slurm-client"}
SKIPPED = 77  # exit status of a skipped test
DAEMON = "RIGCAL_SLURM_DAEMON"  # variable with the name of a daemon, also of its children


def find_program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing_packages():
    return sorted({package for name, package in PROGRAMS.items() if not find_program(name)})


def free_ports(count):
    """Returns free ports below those that the system assigns to other programs meanwhile."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = set()
    while len(ports) < count:
        port = random.randrange(lowest // 2, lowest)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            ports.add(port)
        except OSError:
            pass
    return list(ports)


def configuration(folder):
    user = pwd.getpwuid(os.getuid()).pw_name
    controller, *nodes = free_ports(1 + len(NODES))
    # With cred_expire, a task of a lost node starts again after 6 s instead of 2 min.
    lines = f"""ClusterName=rigcal
SlurmctldHost={socket.gethostname()}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmctldPort={controller}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/%n
StateSaveLocation={folder}/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=1
SlurmdParameters=config_overrides
SlurmdTimeout=20
MessageTimeout=60
KillWait=2
ReturnToService=2
"""
    for name, port in zip(NODES, nodes):
        lines += (f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 "
                  f"Port={port} CPUs=1 RealMemory={MEMORY_MB} State=UNKNOWN\n")
    return lines + (f"PartitionName=tests Nodes={','.join(NODES)} Default=YES MaxTime=90 "
                    "State=UP\n")


def environment(folder):
    return {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}


def command_of(folder, name):
    if name == "munged":
        return [find_program("munged"), "--foreground", f"--key-file={folder}/munge.key",
                f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
                f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"]
    if name == "slurmctld":
        return [find_program("slurmctld"), "-D"]
    return [find_program("slurmd"), "-D", "-N", name]


def children_of_all():
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    return children


def end_descendants():
    """Kills all descendants of this process, also those that appear meanwhile."""
    for _ in range(100):
        children, found, queue = children_of_all(), [], [os.getpid()]
        while queue:
            for child in children.get(queue.pop(), []):
                found.append(child)
                queue.append(child)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)


class Keeper:
    """Runs the daemons. Files in the folder `requests` ask it to start one, or to end all."""

    def __init__(self, folder):
        self.folder = folder
        self.requests = folder / "requests"
        self.end = time.monotonic() + LIFE_S

    def start(self, name):
        with open(self.folder / f"{name}.output", "ab") as output:
            process = subprocess.Popen(command_of(self.folder, name),
                                       env={**environment(self.folder), DAEMON: name},
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       start_new_session=True)
        (self.folder / f"{name}.process").write_text(str(process.pid))

    def keep(self):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        try:
            self.start("munged")
            wait_until(lambda: (self.folder / "munge.socket").exists(), "munged did not start")
            for name in ("slurmctld", *NODES):
                self.start(name)
            while time.monotonic() < self.end and self.folder.exists():
                try:
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass
                except ChildProcessError:
                    pass
                for request in sorted(self.requests.glob("*")):
                    request.unlink()
                    if request.name == "stop":
                        return
                    self.start(request.name)
                time.sleep(0.05)
        finally:
            end_descendants()
            (self.folder / "keeper.process").unlink(missing_ok=True)


def wait_until(is_reached, failure, time_s=START_S):
    end = time.monotonic() + time_s
    while not is_reached():
        if time.monotonic() > end:
            raise SystemExit(f"slurm_cluster.py: {failure} within {time_s} s")
        time.sleep(0.05)


def idle_nodes(folder):
    answer = subprocess.run([find_program("sinfo"), "-h", "-N", "-o", "%N %T"],
                            env=environment(folder), capture_output=True, text=True, check=False)
    return [line.split()[0] for line in answer.stdout.splitlines()
            if line.split()[1] in ("idle", "mixed", "allocated")]


def start(folder):
    if missing := missing_packages():
        print("skipped: Slurm is not installed; install it with: apt-get install "
              "--no-install-recommends", " ".join(missing))
        return SKIPPED
    if (folder / "keeper.process").exists():
        stop(folder)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "requests").mkdir(parents=True)
    for name in ("state", *NODES):
        (folder / name).mkdir()
    folder.chmod(0o755)
    subprocess.run([find_program("mungekey"), "--create", f"--keyfile={folder}/munge.key"],
                   check=True)
    (folder / "slurm.conf").write_text(configuration(folder))
    if os.fork() == 0:
        os.setsid()
        with open(os.devnull, "rb") as nothing, open(folder / "keeper.output", "wb") as output:
            os.dup2(nothing.fileno(), 0)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        if (pid := os.fork()) != 0:
            (folder / "keeper.process").write_text(str(pid))
            os._exit(0)
        try:
            Keeper(folder).keep()
        finally:
            os._exit(0)
    os.wait()
    try:
        wait_until(lambda: len(idle_nodes(folder)) == len(NODES), "the nodes did not start")
    except SystemExit:
        for log in sorted(folder.glob("*.log")) + sorted(folder.glob("*.output")):
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}")
        stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
        print("skipped: Slurm does not start on this machine")
        return SKIPPED
    return 0


def stop(folder):
    if (folder / "keeper.process").exists():
        (folder / "requests" / "stop").touch()
        wait_until(lambda: not (folder / "keeper.process").exists(), "the cluster did not end")
    return 0


def kill(folder, name):
    os.kill(int((folder / f"{name}.process").read_text()), signal.SIGKILL)
    return 0


def lose(folder, node):
    kill(folder, node)
    marks = [f"{DAEMON}={node}\0".encode(), f"SLURMD_NODENAME={node}\0".encode()]
    conf = f"SLURM_CONF={folder}/slurm.conf\0".encode()
    for _ in range(3):  # first the daemons of tasks; tasks may start others meanwhile
        for entry in Path("/proc").iterdir():
            try:
                variables = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
                if conf in variables and any(mark in variables for mark in marks):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue
    return 0


def run(folder, name):
    (folder / "requests" / name).touch()
    wait_until(lambda: not (folder / "requests" / name).exists(), f"{name} did not start")
    return 0


def main(arguments):
    actions = {"start": start, "stop": stop, "kill": kill, "lose": lose, "run": run}
    if len(arguments) < 2 or arguments[0] not in actions:
        print(__doc__, file=sys.stderr)
        return 2
    return actions[arguments[0]](Path(arguments[1]).resolve(), *arguments[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
