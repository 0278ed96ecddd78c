#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The man page names every verb and option that --help prints, and no other option.

usage: manual.py GMPSIM MAN_PAGE
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


def main(program, man_page):
    with open(man_page, encoding="utf-8") as f:
        man = f.read().replace("\\-", "-")
    top = help_of(program)
    verbs = verbs_of(top)
    findings = [] if verbs else ["no verbs found in gmpsim --help"]
    printed = set(re.findall(OPTION, top))
    for verb in verbs:
        printed |= set(re.findall(OPTION, help_of(program, verb)))
        if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(verb), man):
            findings.append("%s: no verb %s" % (man_page, verb))
    named = set(re.findall(OPTION, man))
    findings += ["%s: no option %s" % (man_page, o) for o in sorted(printed - named)]
    findings += ["%s: %s is not in --help" % (man_page, o) for o in sorted(named - printed)]
    print("\n".join(findings + ["%d verbs, %d options" % (len(verbs), len(printed))]))
    return 1 if findings else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
