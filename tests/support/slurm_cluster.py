# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of one's own on loopback: a controller and two nodes in a directory of their own, for tests
of job arrays. It needs Debian's slurmctld, slurmd, slurm-client and munge, and none of their services, nor
cgroups, nor root.

    with SlurmCluster() as cluster:
        subprocess.run(["sbatch", ...], env=cluster.environment, check=True)
        cluster.wait_until_idle(30)
"""

import ctypes
import os
import pathlib
import pwd
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

DAEMONS, CLIENTS = ("munged", "slurmctld", "slurmd"), ("sbatch", "scancel", "scontrol", "sinfo", "squeue")
SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"  # where daemons are, which the path of a user often lacks

# What makes it quick: a job starts within a second, the beat of the controller's scheduler. A dead node's
# jobs are queued again 15 s later, 4 s when the node is restarted, and start 6 s after that: a credential's
# life, 120 s unless told and 5 s at least, is how long a job that is queued again waits. Memory is checked
# against a node's and else never counted.
CONFIGURATION = """\
ClusterName=systole
SlurmctldHost=localhost({address})
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket,cred_expire=5
CredType=cred/munge
{binding}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool.%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/%n.log
MailProg=/bin/true
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc={directory}/completions
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=1,default_queue_depth=1000,sched_interval=1
MaxArraySize=20001
MaxJobCount=50000
MinJobAge=2
JobRequeue=1
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=10
MessageTimeout=5
TCPTimeout=1
BatchStartTimeout=2
KillWait=1
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def program(name):
    """Where a program is, or None."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_PATH}")


def missing():
    """What a cluster needs and this machine lacks: programs, and an interface besides loopback, without which
    Slurm looks up no address."""
    lacking = [name for name in (*DAEMONS, *CLIENTS) if program(name) is None]
    if all(name == "lo" for _, name in socket.if_nameindex()):
        lacking.append("a network interface")
    return lacking


def free_ports(count):
    """TCP ports of loopback that nobody has at this moment."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in held]
    for server in held:
        server.close()
    return ports


def place_to_listen():
    """An address, and what the daemons are to be told about theirs. Slurm listens either everywhere or where
    the name of the machine says, so on loopback alone only where that is what the name says."""
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        address = ""
    if address.startswith("127."):
        return address, "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny"
    return "127.0.0.1", ""


class SlurmCluster:
    def __init__(self, nodes=("node1", "node2"), cpus=2, memory_mb=1000):
        self.nodes, self.cpus, self.memory_mb = tuple(nodes), cpus, memory_mb
        self.directory = None
        self.environment = None  # of programs that are to see this cluster: this process's, with SLURM_CONF
        self._running = {}       # of a daemon's name its supervisor
        self._addresses = {}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self, timeout=20):
        """All daemons, until the nodes are ready; whatever has started is stopped when something fails."""
        if missing():
            raise RuntimeError(f"not installed: {', '.join(missing())}")
        if self.directory is not None:
            raise RuntimeError("this cluster has been started already")
        try:
            self._write_files()
            self._start_munged(timeout)
            self._start_controller()
            for name in self.nodes:
                self._start_node(name)
            self.wait_until_ready(timeout)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """Kills all daemons and all that they have started, and removes the directory."""
        for supervisor in self._running.values():
            supervisor.stdin.close()
        for name in tuple(self._running):
            self._kill(name)
        if self.directory is not None:
            shutil.rmtree(self.directory)
        self.directory = self.environment = None

    def kill_node(self, name):
        """What a node that loses its power does: kills slurmd, its slurmstepd and their jobs, at once."""
        self._kill(self._known(name))

    def restart_node(self, name):
        self.kill_node(name)
        self._start_node(name)

    def kill_controller(self):
        self._kill("slurmctld")

    def restart_controller(self, clean=False):
        """Without `clean` it knows what its state of at most some 5 s ago says: it forgets later jobs and
        gives their numbers again, and starts tasks again that it has started since. A node where such a task
        still runs is drained then and the task held: see `resume`. With `clean` it forgets all jobs, and the
        nodes end those that run."""
        self.kill_controller()
        self._start_controller(*(["-c"] if clean else []))

    def resume(self):
        """What an operator does then: gives drained nodes work again, and lets jobs go that Slurm holds."""
        for name, state in self.node_states().items():
            if state.startswith("drain"):
                self.run("scontrol", "update", f"NodeName={name}", "State=RESUME")
        for line in self.run("squeue", "--noheader", "--array", "--format=%i %r").splitlines():
            job, _, reason = line.strip().partition(" ")
            if reason.endswith("held"):
                self.run("scontrol", "release", job)

    def run(self, *command, timeout=20, check=True, **options):
        """A client's standard output, as text without the last newline."""
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=timeout,
                              check=False, **options)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}\n"
                               f"{self.logs()}")
        return done.stdout.rstrip("\n")

    def jobs(self):
        """{name of a job or a task of an array: state} of what squeue knows, each task by itself; None
        without answer."""
        lines = self._ask("squeue", "--noheader", "--array", "--states=all", "--format=%i %T")
        return None if lines is None else dict(line.split() for line in lines)

    def node_states(self):
        """{name of a node: state}, or None without an answer. A state that ends in * is one of a node that is
        silent."""
        lines = self._ask("sinfo", "--noheader", "--Node", "--format=%N %T")
        return None if lines is None else dict(line.split() for line in lines)

    def wait_until(self, condition, what, timeout, pause=0.1):
        """The first true answer of `condition`."""
        end = time.monotonic() + timeout
        while True:
            answer = condition()
            if answer:
                return answer
            if time.monotonic() > end:
                raise TimeoutError(f"waited {timeout} s for {what}\n{self.logs()}")
            time.sleep(pause)

    def wait_until_ready(self, timeout=20):
        """The controller answers, and every node that has not been killed is up."""
        def ready():
            for name, supervisor in self._running.items():
                if supervisor.poll() is not None:
                    raise RuntimeError(f"{name} has ended with exit code {supervisor.returncode}\n"
                                       f"{self.logs()}")
            states, nodes = self.node_states(), [name for name in self.nodes if name in self._running]
            return states is not None and all(states.get(name) in ("idle", "mixed", "allocated", "completing")
                                              and self._listens(name) for name in nodes)
        self.wait_until(ready, "a controller that answers and nodes that are up", timeout)

    def wait_until_idle(self, timeout):
        """No job is queued, running or completing."""
        self.wait_until(lambda: self._ask("squeue", "--noheader", "--format=%i %T") == [],
                        "no job in squeue", timeout)

    def completions(self):
        """What Slurm wrote of each job that has ended, in order: {"JobId": ..., "JobState": ..., ...}. A task
        of an array has a number of its own here, and a job that is queued again a line for each time."""
        file = self.directory / "completions"
        lines = file.read_text().splitlines() if file.exists() else []
        return [dict(field.partition("=")[::2] for field in line.split() if "=" in field) for line in lines]

    def logs(self, lines=15):
        """The last lines of what each daemon has said, for the message of a test that fails."""
        if self.directory is None:
            return "(no cluster)"
        files = sorted(self.directory.glob("*.log")) + sorted(self.directory.glob("*.output"))
        tails = ((file.name, file.read_text(errors="replace").splitlines()[-lines:]) for file in files)
        return "\n".join("\n".join((f"--- {name}", *tail)) for name, tail in tails if tail)

    def _write_files(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="slurm-cluster-"))
        if len(str(self.directory)) > 60:  # a socket's path has 107 bytes at most, and slurmd adds its own
            self.directory.rmdir()
            self.directory = pathlib.Path(tempfile.mkdtemp(prefix="slurm-cluster-", dir="/tmp"))
        self.directory.chmod(0o711)  # munged wants its socket to be reached by all
        key = self.directory / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        for name in ("state", *(f"spool.{node}" for node in self.nodes)):
            (self.directory / name).mkdir()
        controller_port, *node_ports = free_ports(1 + len(self.nodes))
        address, binding = place_to_listen()
        self._addresses = {name: (address, port) for name, port in zip(self.nodes, node_ports)}
        nodes = "\n".join(f"NodeName={name} NodeHostname=localhost NodeAddr={address} Port={port} "
                          f"CPUs={self.cpus} RealMemory={self.memory_mb}"
                          for name, (_, port) in self._addresses.items())
        configuration = self.directory / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(
            address=address, binding=binding, controller_port=controller_port, directory=self.directory,
            nodes=nodes, user=pwd.getpwuid(os.getuid()).pw_name))
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("SLURM", "SBATCH_", "SQUEUE_", "SINFO_", "SCANCEL_"))}
        self.environment = {**kept, "SLURM_CONF": str(configuration)}

    def _start_munged(self, timeout):
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid",
                 "seed-file": "munge.seed", "log-file": "munged.log"}
        self._launch("munged", "munged", "--foreground", "--num-threads=10",
                     *(f"--{option}={self.directory / file}" for option, file in files.items()))
        supervisor, its_socket = self._running["munged"], self.directory / "munge.socket"
        self.wait_until(lambda: supervisor.poll() is not None or its_socket.exists(), "munged's socket",
                        timeout, pause=0.01)

    def _start_controller(self, *options):
        self._launch("slurmctld", "slurmctld", "-D", "-f", str(self.directory / "slurm.conf"), *options)

    def _start_node(self, name):
        self._launch(name, "slurmd", "-D", "-f", str(self.directory / "slurm.conf"), "-N", name)

    def _launch(self, name, command, *arguments):
        """A daemon below a supervisor, which ends when the pipe to it does: with this process at the
        latest."""
        with open(self.directory / f"{name}.output", "ab") as output:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, program(command), *arguments], cwd=self.directory,
                env=self.environment, stdin=subprocess.PIPE, stdout=output, stderr=output,
                start_new_session=True)

    def _kill(self, name, timeout=20):
        supervisor = self._running.pop(name, None)
        if supervisor is not None:
            supervisor.stdin.close()
            supervisor.wait(timeout)

    def _listens(self, name):
        """Whether a node takes calls: for a while the controller calls a node up that has died."""
        try:
            socket.create_connection(self._addresses[name], timeout=1).close()
        except OSError:
            return False
        return True

    def _known(self, name):
        if name not in self.nodes:
            raise ValueError(f"no node '{name}' but {', '.join(self.nodes)}")
        return name

    def _ask(self, *command):
        """A client's lines, or None where the controller does not answer."""
        try:
            done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, timeout=10,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
            return done.stdout.splitlines()
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None


def descendants(ancestor):
    """All processes below one, parents first."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(pathlib.Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):  # it has ended
            continue
        children.setdefault(parent, []).append(int(name))
    found = [ancestor]
    for process in found:
        found += children.get(process, ())
    return found[1:]


def supervise(command):
    """Runs a daemon until it ends or standard input does, and then kills all that it has started, also what
    has left it for another session or parent, as slurmstepd does: such a process becomes a child of this
    one."""
    set_child_subreaper = 36
    if ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        sys.exit("prctl(PR_SET_CHILD_SUBREAPER) has failed")
    daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    status = None

    def reap(options):
        """Forgets children that have ended, and keeps the daemon's status; 0 when children are left."""
        nonlocal status
        while True:
            try:
                process, ended = os.waitpid(-1, options)
            except ChildProcessError:
                return False
            if process == 0:
                return True
            if process == daemon.pid:
                status = ended
                return True

    while status is None and not select.select([sys.stdin], [], [], 0.1)[0]:
        reap(os.WNOHANG)
    while True:
        for process in descendants(os.getpid()):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not reap(os.WNOHANG):
            break
        time.sleep(0.002)
    return 0 if status is None else os.waitstatus_to_exitcode(status) & 255


if __name__ == "__main__":
    sys.exit(supervise(sys.argv[1:]))
