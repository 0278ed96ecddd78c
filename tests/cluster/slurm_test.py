#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: arrays of a real Slurm give the table that one machine gives, also when a task is killed
and run again. Method: a controller and a node of its own, on this machine; the scripts of
docs/cluster.md, as they stand there. Skipped, with the reason, where there is no Slurm.

usage: slurm_test.py GMPSIM
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SKIPPED, SECONDS = 77, 120
SERVICE = {
    "name": "service", "why": "test", "objects": {"wg": "waitgroup", "mu": "mutex"},
    "funcs": {"handle": [{"span": "request", "do": [
        {"cpu": {"exp": "30us"}}, {"lock": "mu"}, {"cpu": "1us"}, {"unlock": "mu"},
        {"sleep": {"exp": "200us"}}]}, {"done": "wg"}]},
    "main": [{"add": "wg", "n": 100}, {"loop": 100, "do": [{"go": "handle"}, {"sleep": "20us"}]},
             {"wait": "wg"}]}
CONFIG = """ClusterName=test
SlurmctldHost=%(host)s(127.0.0.1)
SlurmUser=%(user)s
SlurmdUser=%(user)s
AuthType=auth/none
CredType=cred/none
SlurmctldPort=%(port)d
SlurmdPort=%(port2)d
StateSaveLocation=%(folder)s/state
SlurmdSpoolDir=%(folder)s/spool
SlurmctldPidFile=%(folder)s/controller.pid
SlurmdPidFile=%(folder)s/node.pid
SlurmctldLogFile=%(folder)s/controller.log
SlurmdLogFile=%(folder)s/node.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
NodeName=%(host)s NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=main Nodes=%(host)s Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    for name in ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo"):
        if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            return "no %s (Debian: apt install slurm-wlm)" % name
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def scripts():
    """The batch scripts of the documentation, by the command that they run."""
    with open(os.path.join(ROOT, "docs", "cluster.md"), encoding="utf-8") as f:
        blocks = re.findall(r"```sh\n(#!/bin/sh\n#SBATCH.*?)```", f.read(), re.S)
    return {re.search(r"^gmpsim (\w+)", b, re.M).group(1): b for b in blocks}


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        os.chmod(cls.folder, 0o755)
        for name in ("state", "spool", "bin"):
            os.mkdir(os.path.join(cls.folder, name))
        os.symlink(GMPSIM, os.path.join(cls.folder, "bin", "gmpsim"))
        with open(os.path.join(cls.folder, "slurm.conf"), "w", encoding="utf-8") as f:
            f.write(CONFIG % {"host": socket.gethostname().split(".")[0], "user": "root",
                              "port": free_port(), "port2": free_port(), "folder": cls.folder})
        cls.env = {**os.environ, "SLURM_CONF": os.path.join(cls.folder, "slurm.conf"),
                   "PATH": os.path.join(cls.folder, "bin") + ":" + os.environ["PATH"] +
                           ":/usr/sbin:/sbin"}
        cls.daemons = [cls.start("slurmctld"), cls.start("slurmd")]
        cls.wait("the node", lambda: "idle" in cls.call("sinfo", "-h", "-o", "%T"))
        with open(os.path.join(cls.folder, "service.json"), "w", encoding="utf-8") as f:
            json.dump(SERVICE, f)
        shutil.copytree(os.path.join(ROOT, "scenarios", "basics"),
                        os.path.join(cls.folder, "scenarios"))

    @classmethod
    def tearDownClass(cls):
        for daemon in reversed(cls.daemons):
            daemon.terminate()
            daemon.wait(timeout=30)
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def start(cls, name):
        with open(os.path.join(cls.folder, name + ".out"), "wb") as out:
            return subprocess.Popen([shutil.which(name, path=cls.env["PATH"]), "-D"], env=cls.env,
                                    cwd=cls.folder, stdout=out, stderr=out)

    @classmethod
    def call(cls, *args, status=0, env=None):
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=cls.folder, env={**cls.env, **(env or {})}, timeout=SECONDS,
                              check=False)
        if status is not None and done.returncode != status and args[0] != "sinfo":
            raise AssertionError("%s: %d\n%s%s" % (args, done.returncode, done.stdout.decode(),
                                                   done.stderr.decode()))
        return done.stdout.decode()

    @classmethod
    def wait(cls, what, done):
        end = time.monotonic() + SECONDS
        while not done():
            if time.monotonic() > end:
                raise AssertionError("%s: not within %d s" % (what, SECONDS) + "".join(
                    open(os.path.join(cls.folder, name), encoding="utf-8").read()[-2000:]
                    for name in ("controller.log", "node.log")))
            time.sleep(0.2)

    def submit(self, script, *options):
        with open(os.path.join(self.folder, "job.sh"), "w", encoding="utf-8") as f:
            f.write(script)
        self.call("sbatch", *options, "job.sh")
        self.wait("the array", lambda: not self.call("squeue", "-h").strip())

    def outputs(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("slurm-"):
                with open(os.path.join(self.folder, name), encoding="utf-8") as f:
                    text += f.read()
        return text

    def parts(self):
        return sorted(n for n in os.listdir(self.folder)
                      if re.fullmatch(r"(part|search|check)-\d\.jsonl", n))

    def tearDown(self):
        for name in os.listdir(self.folder):
            if re.match("part-|search-|check-|slurm-", name):
                os.remove(os.path.join(self.folder, name))

    def test_a_grid_with_a_task_that_is_killed(self):
        script = scripts()["whatif"]
        self.assertIn("--array=0-7", script)
        # Task 3 may write so much and no more, and is killed where it does: in the middle of a run.
        limited = script.replace("gmpsim whatif",
                                 '[ "$SLURM_ARRAY_TASK_ID" != 3 ] || ulimit -f 12\ngmpsim whatif')
        self.submit(limited)
        self.assertEqual(len(self.parts()), 8, self.outputs())
        self.call("gmpsim", "merge", *self.parts(), status=2)  # something is missing
        self.submit(script.replace("--shard auto", "--shard 4/8"), "--array=3")
        line = re.search(r"gmpsim whatif (.*?) --jobs", script.replace("\\\n", " "), re.S).group(1)
        one = self.call("gmpsim", "whatif", *line.split())
        self.assertEqual(self.call("gmpsim", "merge", *self.parts()), one)
        self.assertIn("request", one)

    def test_a_search(self):
        self.submit(scripts()["explore"])
        self.assertEqual(len(self.parts()), 8, self.outputs())
        merged = self.call("gmpsim", "merge", *self.parts(), "--into", "all.jsonl", "--json")
        self.assertFalse(json.loads(merged)["found"])
        line = re.search(r"gmpsim explore (.*?) --shard", scripts()["explore"].replace("\\\n", " "),
                         re.S).group(1)
        one = json.loads(self.call("gmpsim", "explore", *line.split(), "--journal", "one.jsonl",
                                   "--json"))
        again = json.loads(self.call("gmpsim", "explore", *line.split(), "--journal", "all.jsonl",
                                     "--json"))
        one["seconds"] = again["seconds"] = 0
        self.assertEqual(again, one)
        self.assertEqual(json.loads(merged)["runs"], one["schedules"])

    def test_a_check(self):
        self.submit(scripts()["scenarios"])
        self.assertEqual(len(self.parts()), 8, self.outputs())
        self.assertEqual(self.call("gmpsim", "merge", *self.parts()),
                         self.call("gmpsim", "scenarios", "check", "scenarios"))


if __name__ == "__main__":
    if missing() is not None:
        print("skipped: " + missing())
        # .ci/run installs it, and wants to hear if it is not there nevertheless.
        sys.exit(1 if "slurm" in os.environ.get("GMPSIM_REQUIRED", "").split() else SKIPPED)
    if os.geteuid() != 0:
        print("skipped: slurmd starts jobs as root only")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
