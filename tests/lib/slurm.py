# SPDX-License-Identifier: BSD-2-Clause
"""A cluster of two nodes on this machine, of the distribution's Slurm: munged, slurmctld, slurmd, and slurmdbd with a database of its own."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

from lib.live import wait_for
from lib.servers import free_port, need

NODES = ("n1", "n2")
HOST = socket.gethostname().split(".")[0]
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "slurmdbd", "mariadbd", "mariadb-install-db")

CONFIG = """
ClusterName=bpfmon
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/{proctrack}
TaskPlugin=task/{task}
JobAcctGatherType=jobacct_gather/{gather}
JobAcctGatherFrequency=task=1
SwitchType=switch/none
ReturnToService=2
SchedulerParameters=bf_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports[2]}
AccountingStoragePass={folder}/munge/socket
PlugStackConfig={folder}/plugstack.conf
MinJobAge=300
PrologFlags=Alloc{contain}
Prolog={folder}/prolog
Epilog={folder}/prolog
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[4]} CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=short Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""
CGROUP = """
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainCores=no
ConstrainRAMSpace={constrain}
"""
DATABASE = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={ports[2]}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports[3]}
StorageUser=slurm
StoragePass=x
StorageLoc=slurm_acct_db
CommunicationParameters=NoInAddrAny
"""
GRANT = "create user slurm@localhost identified by 'x'; create user slurm@'127.0.0.1' identified by 'x'; grant all on slurm_acct_db.* to slurm@localhost; grant all on slurm_acct_db.* to slurm@'127.0.0.1'"


class Slurm:
    """`users`: with the account "lab". `prolog`: the text of a script; `plugstack`: a line of plugstack.conf."""

    def __init__(self, users, proctrack="cgroup", task="cgroup", prolog="#!/bin/sh\n", plugstack=""):
        need(*PROGRAMS, group="slurm")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bpfmon-slurm-"))
        self.folder.chmod(0o755)
        self.started = []
        self.env = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        try:
            self.configure(proctrack, task, prolog, plugstack)
            self.start(users)
        except BaseException:
            self.end()
            raise

    def configure(self, proctrack, task, prolog, plugstack):
        of_cgroups = proctrack == "cgroup"
        fields = {
            "folder": self.folder,
            "host": HOST,
            "ports": [free_port() for _ in range(5)],
            "cpus": os.cpu_count(),
            "proctrack": proctrack,
            "task": task,
            "gather": "cgroup" if task == "cgroup" else "linux",
            "contain": ",Contain" if of_cgroups else "",
            "constrain": "yes" if task == "cgroup" else "no",
        }
        self.port = fields["ports"][3]
        for name in ("state", "munge", "db"):
            (self.folder / name).mkdir()
        for name, text in (("slurm.conf", CONFIG), ("cgroup.conf", CGROUP), ("slurmdbd.conf", DATABASE)):
            (self.folder / name).write_text(text.format(**fields))
        (self.folder / "slurmdbd.conf").chmod(0o600)
        (self.folder / "plugstack.conf").write_text(plugstack + "\n")
        (self.folder / "prolog").write_text(prolog)
        (self.folder / "prolog").chmod(0o755)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)

    def launch(self, *argv):
        """A server in the foreground."""
        with open(self.folder / f"{pathlib.Path(argv[0]).name}.out", "ab") as out:
            self.started.append(subprocess.Popen([str(a) for a in argv], env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out))

    def start(self, users):
        at, db = self.folder / "munge", self.folder / "db"
        self.launch("munged", "--foreground", "--force", f"--key-file={at}/key", f"--socket={at}/socket", f"--pid-file={at}/pid", f"--seed-file={at}/seed", f"--log-file={at}/log")
        subprocess.run(["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", f"--datadir={db}", "--user=root", "--skip-test-db"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        self.launch("mariadbd", "--no-defaults", "--user=root", f"--datadir={db}", "--bind-address=127.0.0.1", f"--port={self.port}", f"--socket={db}.sock", f"--pid-file={db}.pid", "--innodb-buffer-pool-size=32M", "--innodb-lock-wait-timeout=900")
        sql = ["mariadb", "--no-defaults", "-uroot", "-S", f"{db}.sock", "-e"]
        wait_for(lambda: subprocess.run([*sql, "select 1"], capture_output=True, check=False).returncode == 0, "the database")
        subprocess.run([*sql, GRANT], check=True)
        wait_for((at / "socket").exists, "munged")
        self.launch("slurmdbd", "-D")
        wait_for(lambda: self.call("sacctmgr", "-n", "list", "cluster", check=False).returncode == 0, "slurmdbd", seconds=60)
        self.call("sacctmgr", "-i", "add", "cluster", "bpfmon")
        self.call("sacctmgr", "-i", "add", "account", "lab")
        for user in users:
            self.call("sacctmgr", "-i", "add", "user", user, "account=lab")
        self.launch("slurmctld", "-D", "-c", "-f", self.folder / "slurm.conf")
        for node in NODES:
            self.launch("slurmd", "-D", "-f", self.folder / "slurm.conf", "-N", node)
        wait_for(lambda: self.states() == {"idle"}, "the nodes", seconds=60)

    def states(self):
        """Of the nodes."""
        return set(self.call("sinfo", "-h", "-N", "-o", "%T", check=False).stdout.split())

    def call(self, *argv, check=True, **popen):
        done = subprocess.run([str(a) for a in argv], env=self.env, capture_output=True, text=True, timeout=60, check=False, **popen)
        if check and done.returncode:
            raise AssertionError(f"{argv}: {done.stdout}{done.stderr}{self.log()}")
        return done

    def log(self):
        return "".join(p.read_text(errors="replace")[-3000:] for p in sorted(self.folder.glob("slurm*.log")))

    def end(self):
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for top in (top for node in NODES for top in pathlib.Path("/sys/fs/cgroup").glob(f"*/slurm_{node}")):
            subprocess.run(["find", str(top), "-depth", "-type", "d", "-exec", "rmdir", "{}", "+"], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
