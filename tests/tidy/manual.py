#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The man page says what --help says: its middle part is written from it.

usage: manual.py [--write] GMPSIM MAN_PAGE

Without --write it is a test: the part between the two marks of MAN_PAGE must be what
--write would put there, and every command must have a help text with an example.
"""
import re
import subprocess
import sys

BEGIN = '.\\" Written by tests/tidy/manual.py from --help: do not edit.\n'
END = '.\\" End of what manual.py writes.\n'


def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit("%s --help: exit %d" % (" ".join([program, *command]), done.returncode))
    return done.stdout.decode()


def commands_of(text):
    """Commands are the first words of the indented lines of `gmpsim --help`."""
    return re.findall(r"^ {1,4}([a-z][a-z-]+) ", text, re.M)


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return re.sub(r"^([.'])", r"\\&\1", text)


def section(text):
    """One command's help as roff: usage, then paragraphs, options, and indented text as it is."""
    lines = text.rstrip("\n").split("\n")
    usage = re.sub(r"^usage: ", "", lines[0])
    out = ['.SS "%s"' % roff(usage)]
    state = "text"
    for line in lines[1:]:
        option = re.match(r"  (--?\S.*?)(?:  +(.*))?$", line)
        if option:
            out += [".TP", ".B %s" % roff(option.group(1)), roff(option.group(2) or "")]
            state = "option"
        elif not line.strip():
            out += [".fi"] if state == "indented" else []
            out += [".PP"]
            state = "text"
        elif state == "option" and line.startswith("    "):
            out.append(roff(line.strip()))
        elif line.startswith("  "):
            out += [] if state == "indented" else [".nf"]
            out.append(roff(line))
            state = "indented"
        else:
            out.append(roff(line))
    if state == "indented":
        out.append(".fi")
    return [line for line in out if line]


def generated(program):
    top = help_of(program)
    out, findings = [], []
    commands = commands_of(top)
    if not commands:
        findings.append("no commands found in gmpsim --help")
    for command in commands:
        text = help_of(program, command)
        if not re.search(r"^Examples?:", text, re.M):
            findings.append("gmpsim %s --help shows no example" % command)
        out += section(text)
    return "\n".join(out) + "\n", findings


def main(args):
    write = "--write" in args
    args = [a for a in args if a != "--write"]
    if len(args) != 2:
        sys.exit(__doc__)
    program, page = args
    with open(page, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    middle, findings = generated(program)
    wanted = before + BEGIN + middle + END + after
    if write and wanted != text:
        with open(page, "w", encoding="utf-8") as f:
            f.write(wanted)
    elif wanted != text:
        findings.append("%s is not what --help says: ./dev manual writes it" % page)
    print("\n".join(findings + ["%d lines from --help" % middle.count("\n")]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
