#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the lane that docs/ci.md and action.yml describe does what they say. Method: its script is
run as the action and the GitLab job run it, on scenarios with and without a defect; the workflows
are read as YAML.

usage: ci.py GMPSIM
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LOCKS = [{"lock": "a"}, {"lock": "b"}, {"unlock": "b"}, {"unlock": "a"}]
OTHER = [{"lock": "b"}, {"lock": "a"}, {"unlock": "a"}, {"unlock": "b"}]


def scenario(name, one, two):
    return {"name": name, "why": "test", "objects": {"a": "mutex", "b": "mutex"},
            "funcs": {"one": one, "two": two},
            "main": [{"go": "one"}, {"go": "two"}, {"sleep": "1s"}]}


def workflows():
    """The steps of the action, and the script of the GitLab job."""
    import yaml  # pylint: disable=import-outside-toplevel
    with open(os.path.join(ROOT, "action.yml"), encoding="utf-8") as f:
        action = yaml.safe_load(f)
    with open(os.path.join(ROOT, "docs", "ci.md"), encoding="utf-8") as f:
        blocks = [yaml.safe_load(b) for b in re.findall(r"```yaml\n(.*?)```", f.read(), re.S)]
    assert set(blocks[0]["jobs"]["explore"]["steps"][1]["with"]) <= set(action["inputs"])
    search = action["runs"]["steps"][1]
    for name, value in search["env"].items():
        key = re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value).group(1)
        search["env"][name] = action["inputs"][key]["default"]
    return search, blocks[1]["explore"]


def run(script, folder, gmpsim, **more):
    env = dict(os.environ, GMPSIM=gmpsim, GITHUB_ACTION_PATH=ROOT, EXPLORE_FOR="1s",
               PATH=os.path.join(ROOT, ".ci") + ":" + os.environ["PATH"], **more)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def check(gmpsim, script, env):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "scenarios"))

        def write(name, what):
            with open(os.path.join(folder, "scenarios", name), "w", encoding="utf-8") as f:
                json.dump(what, f)

        write("good one.json", scenario("good", LOCKS, LOCKS))
        status, said = run(script, folder, gmpsim, **env)
        assert status == 0, said
        write("bad.json", scenario("bad", LOCKS, OTHER))
        status, said = run(script, folder, gmpsim, GITHUB_ACTIONS="true", **env)
        assert status == 1, said
        assert re.search(r"^::error file=scenarios/bad.json,line=1,title=", said, re.M), said
        out = os.path.join(folder, "explore-out")
        suites = [xml.etree.ElementTree.parse(os.path.join(out, x)).getroot().find("testsuite")
                  for x in ("1-bad.xml", "2-good-one.xml")]
        assert [s.get("failures") for s in suites] == ["1", "0"], said
        again = subprocess.run([gmpsim, "replay", os.path.join(out, "1-bad.schedule")],
                               cwd=folder, capture_output=True, text=True, check=False)
        assert again.returncode == 1, again.stderr
        write("broken.json", {"name": "broken"})
        assert run(script, folder, gmpsim, **env)[0] == 2
        # A gmpsim that finds nothing: the canary says so.
        blind = os.path.join(folder, "blind")
        with open(blind, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexit 1\n")
        os.chmod(blind, 0o755)
        status, said = run(script, folder, blind, **env)
        assert status == 3 and "canary" in said, said


def main():
    gmpsim = os.path.abspath(sys.argv[1])
    search, gitlab = workflows()
    check(gmpsim, search["run"], {k: v for k, v in search["env"].items() if k != "EXPLORE_FOR"})
    check(gmpsim, "\n".join(gitlab["script"]), {})
    return 0


if __name__ == "__main__":
    sys.exit(main())
