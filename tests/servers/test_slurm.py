# SPDX-License-Identifier: BSD-2-Clause
"""Jobs of a real Slurm, as users submit them: what the agent says of them, beside what Slurm says; and the plugin, which breaks none."""

import json
import os
import pathlib
import re
import signal
import subprocess

from lib.bpfmon import BPFMON, BUILD, TOP, Case
from lib.documents import blocks_of, documented_commands
from lib.live import wait_for
from lib.node import NOBODY, AgentCase
from lib.slurm import Slurm

ALONE = True  # ports, and cgroups named by the nodes
PLUGIN = BUILD / "spank_bpfmon.so"
PROLOG = TOP / "share/bpfmon/slurm/prolog.sh"
# 200 MB for 3 s, 400 MB for a moment, 150 children of 10 ms, 20 MB written and read again
WORK = """
python3 -c 'import time; held = bytearray(200 << 20); time.sleep(3)'
head -c 400M /dev/zero | tail -c 400M >/dev/null
i=0; while [ $i -lt 150 ]; do timeout 0.01 sh -c 'while :; do :; done'; i=$((i+1)); done
head -c 20000000 /dev/zero >{0}; cat {0} >/dev/null; rm {0}
"""
# the script, and what wait4() says that it has used
WITNESS = "import resource, subprocess, sys; subprocess.run(['sh', sys.argv[1]]); u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"


class SlurmCase(AgentCase):
    """With a cluster for all tests of the class, and an agent for each whose labels are in the folder of all agents of it."""

    slurm = None
    options = {}
    labels = pathlib.Path(f"/run/bpfmon-slurm-{os.getpid()}/slurm")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm = Slurm(["nobody", "root"], **cls.cluster())

    @classmethod
    def tearDownClass(cls):
        cls.slurm.end()
        subprocess.run(["rm", "-rf", cls.labels.parent], check=True)
        super().tearDownClass()

    @classmethod
    def cluster(cls):
        return {"plugstack": f"optional {PLUGIN} folder={cls.labels} bpfmon={BPFMON}"}

    def setUp(self):
        super().setUp()
        self.labels.mkdir(parents=True, exist_ok=True)
        self.socket = self.labels.parent / "a.sock"
        self.files = self.place / "files"
        self.files.mkdir()
        self.files.chmod(0o777)

    def tearDown(self):
        self.wait_until_idle()  # no node is drained, no label is left
        super().tearDown()

    def call(self, *words, uid=NOBODY, check=True):
        return self.slurm.call(*words, check=check, cwd="/", user=uid, group=uid, extra_groups=[])

    def batch(self, script, *options, check=True, uid=NOBODY):
        """The number that sbatch says, once the job is over."""
        said = self.call("sbatch", "-W", "-o", self.files / "out.%j", *options, "--wrap", script, check=check, uid=uid).stdout
        return int(re.search(r"batch job (\d+)", said)[1])

    def wait_until_idle(self):
        wait_for(lambda: self.slurm.states() == {"idle"} and not list(self.labels.iterdir()), "the end of the jobs", seconds=60)

    def meta(self, listener, job):
        metas = listener.of_job(job, "meta")
        self.assertTrue(metas, {x.get("node_job", {}).get("id") for x in listener.lines})
        return metas

    def accounting(self, number, *fields):
        """The rows of sacct by job and step, once all have ended and the job is among them."""
        fields = ("jobid", "state", *fields)

        def rows():
            text = self.call("sacct", "-a", "-P", "-n", "--units=K", "-o", ",".join(("jobidraw", *fields)), uid=0).stdout
            return {key: dict(zip(fields, rest)) for key, *rest in (line.split("|") for line in text.splitlines())}

        def ended():
            found = rows()
            return str(number) in found and not any(row["state"] in ("PENDING", "RUNNING") for row in found.values()) and found

        return wait_for(ended, f"the end of job {number} in sacct")


class WithCgroups(SlurmCase):
    def start_and_listen(self):
        self.start_agent()
        return self.subscribe()

    def test_a_job_has_the_user_account_and_partition_that_slurm_says(self):
        listener = self.start_and_listen()
        number = self.batch("srun sleep 1; exit 3", "-J", "align", check=False)
        self.wait_until_idle()
        summary = listener.wait_for_summary(f"slurm/{number}")
        told = self.accounting(number, "user", "account", "partition", "jobname", "exitcode")[str(number)]
        for job in (f"slurm/{number}", f"slurm-step/{number}.0", f"slurm-step/{number}.batch"):
            with self.subTest(job=job):
                first = self.meta(listener, job)[0]["node_job"]
                self.assertEqual((first["user"], first["account"], first["partition"]), (told["user"], told["account"], told["partition"]))
                self.assertEqual(first["uid"], NOBODY)
        self.assertEqual(told["exitcode"], "3:0")
        self.assertEqual(self.meta(listener, f"slurm/{number}")[-1]["name"], told["jobname"])
        self.assertTrue(summary["complete"])
        self.wait_for_end_of(f"slurm/{number}")
        ((kept,),) = self.ask("SELECT meta FROM run_text JOIN run ON run.id = run_text.run WHERE job = ?", f"slurm/{number}")
        self.assertEqual(json.loads(kept)["node_job"]["account"], told["account"])
        mine = self.rows("--node", "--agent", self.socket, "--job", f"slurm/{number}", user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
        self.assertEqual([row["job"] for row in mine], [f"slurm/{number}"])

    def test_elements_of_an_array_and_components_have_the_names_of_squeue(self):
        listener = self.start_and_listen()
        first = self.batch("sleep 2", "-J", "many", "--array=3,7")
        mixed = self.batch("srun --het-group=0,1 sleep 2", "-J", "mixed", "-n1", ":", "-n1")
        self.wait_until_idle()
        names = {raw: row["jobid"] for raw, row in self.accounting(mixed).items() if "." not in raw}
        mine = {raw: name for raw, name in names.items() if name.startswith((f"{first}_", f"{mixed}+"))}
        self.assertEqual(sorted(mine.values()), sorted([f"{first}_3", f"{first}_7", f"{mixed}+0", f"{mixed}+1"]))
        for raw, name in mine.items():
            with self.subTest(job=raw):
                listener.wait_for_summary(f"slurm/{raw}")
                said = self.meta(listener, f"slurm/{raw}")[-1]["name"]
                self.assertEqual(said, f"{name} {'many' if '_' in name else 'mixed'}")

    def test_what_sacct_has_and_what_the_agent_has(self):
        """The table of docs/SLURM.md is of this job."""
        listener = self.start_and_listen()
        script = self.files / "work.sh"
        script.write_text(WORK.format(self.files / "data"))
        number = self.batch(f'srun python3 -c "{WITNESS}" {script}', "-J", "work")
        self.wait_until_idle()
        ours = {job: listener.wait_for_summary(job) for job in (f"slurm/{number}", f"slurm-step/{number}.0")}
        rows = self.accounting(number, "elapsed", "totalcpu", "usercpu", "systemcpu", "maxrss", "averss", "avecpu", "maxvmsize", "maxdiskread", "maxdiskwrite", "ntasks")
        text = json.dumps({"wait4": (self.files / f"out.{number}").read_text(), "sacct": {k: v for k, v in rows.items() if k.startswith(str(number))}, "bpfmon": ours}, indent=1)
        (BUILD / "slurm-figures.json").write_text(text)
        step, told = ours[f"slurm-step/{number}.0"], rows[f"{number}.0"]
        truth = float((self.files / f"out.{number}").read_text().split()[-1])  # sacct's is by ticks in version 1 of cgroups
        self.assertGreaterEqual(step["cpu_seconds"], truth - 0.02, text)
        self.assertLess(step["cpu_seconds"], truth + 1, text)  # Python, slurmstepd
        self.assertGreater(step["cpu_seconds"], 1, text)
        for held in (step["memory_needed_bytes"], int(float(told["maxrss"].removesuffix("K")) * 1024)):
            self.assertGreaterEqual(held, 200 << 20, text)  # what was held for three samples of both
        self.assertGreaterEqual(step["wchar_bytes"], 420_000_000, text)

    def test_each_command_of_the_page(self):
        """As the user, in a folder of the user's; those of admins as root, with paths below another folder."""
        self.start_agent()
        home, programs = self.files / "home", self.files / "bin"
        for folder in (home, programs):
            folder.mkdir()
        home.chmod(0o777)
        for name, text in (("sudo", 'exec "$@"'), ("align.sh", "sleep 0.1"), ("job", "true"), ("job.sh", "true")):
            path = (programs if name == "sudo" else home) / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        (programs / "bpfmon").symlink_to(BPFMON)
        env = {**self.slurm.env, "PATH": f"{programs}:{os.environ['PATH']}", "BPFMON_AGENT": str(self.socket), "XDG_STATE_HOME": str(home)}
        env.pop("BPFMON_NO_STORE")
        (script,) = (block for block in blocks_of((TOP / "docs/SLURM.md").read_text()) if block[0] == "#!/bin/bash")
        (home / "align").write_text("\n".join(script) + "\n")

        def run(command, is_admin):
            who = {} if is_admin else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            done = subprocess.run(["bash", "-c", command], env=env, cwd=TOP if is_admin else home, capture_output=True, text=True, check=False, timeout=60, **who)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
            return done.stdout

        number = re.search(r"\d+", run("sbatch -W --mem=500 --cpus-per-task=1 align", False))[0]
        self.wait_for_end_of(f"slurm/{number}")
        elsewhere = (("815", number), ("/usr/local/share", f"{TOP}/share"), ("/etc/slurm", str(self.files)), ("install-slurm", f"install-slurm DESTDIR={self.files}/root"))
        commands = [command for document, command in documented_commands() if document == "docs/SLURM.md"]
        self.assertGreater(len(commands), 9)
        for command in commands:
            words = command
            for text, here in elsewhere:
                words = words.replace(text, here)
            with self.subTest(command=command):
                said = run(words, command.startswith(("sudo", "make")))
                if command.startswith("bpfmon advise"):
                    self.assertRegex(said, r"--mem=\d+M")
                elif "list" in command:
                    self.assertIn(number, said, "".join(path.read_text() for path in home.glob("slurm-*.out")))


class Prolog(SlurmCase):
    """The same labels by the script alone."""

    @classmethod
    def cluster(cls):
        return {"prolog": PROLOG.read_text().replace("/run/bpfmon/slurm", str(cls.labels))}

    def test_the_prolog_leaves_what_the_plugin_leaves(self):
        self.start_agent()
        listener = self.subscribe()
        number = self.batch(f"cat {self.labels}/$SLURM_JOB_ID; sleep 1", "-J", "align")
        self.wait_until_idle()
        listener.wait_for_summary(f"slurm/{number}")
        job = self.meta(listener, f"slurm/{number}")[0]["node_job"]
        self.assertEqual((job["user"], job["uid"], job["account"], job["partition"]), ("nobody", NOBODY, "lab", "short"))
        self.assertEqual((self.files / f"out.{number}").read_text().splitlines()[0], f"SLURM_JOB_ID={number}")


class WithoutCgroups(SlurmCase):
    """proctrack/linuxproc: the jobs have no cgroups; and a cluster whose jobs are by root, too."""

    @classmethod
    def cluster(cls):
        return {**super().cluster(), "proctrack": "linuxproc", "task": "none"}

    def check_jobs(self, uid):
        """Exit statuses and signals arrive; nothing is written that was not without the plugin."""
        done = self.call("srun", "-Q", "sh", "-c", "echo out; exit 7", uid=uid, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "out\n", "srun: error: n1: task 0: Exited with exit code 7\n"))
        done = self.call("srun", "-Q", "--bpfmon=off", "true", uid=uid)
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        number = self.batch("kill -9 $$", "--bpfmon=net", check=False, uid=uid)
        self.wait_until_idle()
        self.assertEqual(self.accounting(number, "exitcode")[str(number)]["exitcode"], "0:9")

    def test_no_agent(self):
        for uid in (NOBODY, 0):
            self.check_jobs(uid)

    def test_an_agent_that_hangs(self):
        agent = self.start_agent()
        agent.send_signal(signal.SIGSTOP)
        self.addCleanup(agent.send_signal, signal.SIGCONT)
        self.check_jobs(NOBODY)

    def test_labels_that_cannot_be_written(self):
        """The file system is full, or the folder is no folder."""
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=1", "none", self.labels], check=True)
        try:
            self.check_jobs(NOBODY)
        finally:
            subprocess.run(["umount", self.labels], check=True)
        self.labels.rmdir()
        self.labels.write_text("")
        try:
            done = self.call("srun", "-Q", "sh", "-c", "exit 7", check=False)
            self.assertEqual(done.returncode, 7)
        finally:
            wait_for(lambda: self.slurm.states() == {"idle"}, "the end of the job")
            self.labels.unlink()
            self.labels.mkdir()

    def test_a_user_measures_a_job_through_the_agent(self):
        self.start_agent()
        out = self.files / "run.jsonl"
        env = {**self.slurm.env, "BPFMON_AGENT": str(self.socket)}
        done = subprocess.run(["srun", "-Q", BPFMON, "-q", "-o", out, "--", "sh", "-c", "exit 5"], env=env, cwd="/", user=NOBODY, group=NOBODY, extra_groups=[], check=False)
        self.assertEqual(done.returncode, 5)
        first, *_, last = map(json.loads, out.read_text().splitlines())
        self.assertEqual((first["scheduler"]["SLURM_JOB_PARTITION"], first["job"]), ("short", first["scheduler"]["SLURM_JOB_ID"]))
        self.assertEqual((first["source"], last["complete"]), ("bpf", True))

    def test_a_level_that_is_none_is_refused_before_the_job_exists(self):
        done = self.call("srun", "--bpfmon=everything", "true", check=False)
        self.assertIn("no level 'everything'", done.stderr)
        self.assertNotEqual(done.returncode, 0)


# host PLUGIN LEVEL ARGUMENT...: calls the hooks of a task as Slurm 23.11 does; prints the words that come before the task
HOST = """
#include <dlfcn.h>
#include <slurm/spank.h>
#include <stdio.h>
static struct spank_option *option;
int spank_remote(spank_t s) { return 1; }
spank_err_t spank_option_register(spank_t s, struct spank_option *o) { option = o; return 0; }
void slurm_error(const char *f, ...) {}
void slurm_info(const char *f, ...) {}
int spank_prepend_task_argv(spank_t s, int argc, const char *argv[])
{
	while (argc--)
		printf("%s%c", *argv++, argc ? ' ' : '\\n');
	return 0;
}
int main(int argc, char **argv)
{
	static const char *const hooks[] = { "init", "init_post_opt", "task_init_privileged" };
	void *plugin = dlopen(argv[1], RTLD_LAZY);
	char name[64];
	if (!plugin)
		return printf("%s", dlerror());
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "slurm_spank_%s", hooks[i]);
		if (((int (*)(spank_t, int, char **))dlsym(plugin, name))(NULL, argc - 3, argv + 3))
			return 1;
		if (!i && *argv[2] && option->cb(0, *argv[2] == '-' ? NULL : argv[2], 1))
			return 2;
	}
	return 0;
}
"""


class NewerSlurm(Case):
    """The plugin in a program that has the functions of Slurm 23.11, which Debian 12's version lacks."""

    needs_usually = ()

    def words(self, level, *arguments):
        source, host = self.dir / "host.c", self.dir / "host"
        source.write_text(HOST)
        if not host.exists():
            subprocess.run(["gcc", "-rdynamic", "-o", host, source], check=True)
        return subprocess.run([host, PLUGIN, level, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.rstrip("\n")

    def test_bpfmon_comes_before_a_task_as_its_level_says(self):
        program = f"bpfmon={BPFMON}"
        for level, expected in (("-", ""), ("run", ""), ("net", " --net"), ("io", " --io-kinds"), ("all", " --net --io-kinds")):
            with self.subTest(level=level):
                self.assertEqual(self.words(level, program), f"{BPFMON} -q{expected} --")
        self.assertEqual(self.words("", program), "")
        self.assertEqual(self.words("", program, "default=net"), f"{BPFMON} -q --net --")
        self.assertEqual(self.words("off", program, "default=net"), "")
        self.assertEqual(self.words("nonsense", program, "nonsense"), "")  # of another version of the plugin, on the other side
        self.assertEqual(self.words("net", "bpfmon=/nowhere/bpfmon"), "")  # the task runs as it is
