#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The man page and the shell completion name every verb and option that --help prints,
and no option that it does not print.

usage: manual.py GMPSIM MAN_PAGE COMPLETION
"""
import re
import subprocess
import sys

OPTION = r"(?<![\w-])--[a-z][a-z0-9-]*"


def help_of(program, *verb):
    done = subprocess.run([program, *verb, "--help"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit("%s --help: exit %d" % (" ".join([program, *verb]), done.returncode))
    return done.stdout.decode()


def verbs_of(text):
    """Verbs are the first words of the indented lines of `gmpsim --help`."""
    return re.findall(r"^ {1,4}([a-z][a-z-]+)\b(?= )", text, re.M)


def main(program, man_page, completion):
    with open(man_page, encoding="utf-8") as f:
        man = f.read().replace("\\-", "-")
    with open(completion, encoding="utf-8") as f:
        shell = f.read()
    top = help_of(program)
    verbs = verbs_of(top)
    findings = [] if verbs else ["no verbs found in gmpsim --help"]
    printed = set(re.findall(OPTION, top))
    for verb in verbs:
        printed |= set(re.findall(OPTION, help_of(program, verb)))
        for name, text in ((man_page, man), (completion, shell)):
            if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(verb), text):
                findings.append("%s: no verb %s" % (name, verb))
    for name, text in ((man_page, man), (completion, shell)):
        named = set(re.findall(OPTION, text))
        findings += ["%s: no option %s" % (name, o) for o in sorted(printed - named)]
        findings += ["%s: option %s is not in --help" % (name, o) for o in sorted(named - printed)]
    print("\n".join(findings + ["%d verbs, %d options" % (len(verbs), len(printed))]))
    return 1 if findings else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
