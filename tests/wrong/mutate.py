#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a copy of model/ that holds every mutant of mutants.tsv, switched off.

    mutate.py MUTANTS MODEL OUT     writes OUT/model/* and OUT/wrong.h
    mutate.py MUTANTS MODEL         only checks that each mutant applies
    mutate.py MUTANTS --list        number and id of each mutant

The variable GMPSIM_WRONG chooses one by its number when a program starts; 0 or nothing
is the model as it is. One compilation per host then serves all mutants.

A row of MUTANTS: id, place, the rule that is broken, the exact text, what replaces it.
The place is FILE or FILE:FUNCTION, in which the text must occur once; runs of blanks in
it match any white space, so that a formatter may break lines. A text that ends with a
semicolon or a brace is statements and becomes

    { if (WRONG(n)) { replacement } else { text } }

anything else is an expression and becomes (WRONG(n) ? (replacement) : (text)).
"""
import os
import re
import shutil
import sys

HEADER = """/* Written by mutate.py. */
#ifndef GMPSIM_WRONG_H
#define GMPSIM_WRONG_H
#include <stdlib.h>
static int wrong_mutant;
__attribute__((constructor)) static void wrong_init(void)
{
    const char *number = getenv("GMPSIM_WRONG");
    wrong_mutant = number != NULL ? atoi(number) : 0;
}
#define WRONG(n) __builtin_expect(wrong_mutant == (n), 0)
#endif
"""


def die(text):
    sys.exit("mutate.py: " + text)


def read_mutants(path):
    mutants = []
    for at, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 5:
            die(f"{path}:{at}: want 5 fields, got {len(fields)}")
        if any(m[0] == fields[0] for m in mutants):
            die(f"{path}:{at}: {fields[0]} occurs twice")
        mutants.append(fields)
    return mutants


def span_of(text, function):
    """Where the definition of function lies in text."""
    if function is None:
        return 0, len(text)
    start = re.search(r"^[a-z][^;\n]*\b%s\([^;]*?\)\s*\{" % re.escape(function), text, re.M)
    if start is None:
        return None
    end = re.compile(r"^}|\}$", re.M).search(text, start.end() - 1)
    one_line = text.find("\n", start.end()) == end.end() if end else False
    if not one_line:
        end = re.compile(r"^}", re.M).search(text, start.end())
    return start.end() - 1, end.end()


def statement(text):
    return text == "" or text[-1] in ";}"


def apply_one(n, mutant, files):
    ident, place, _, old, new = mutant
    name, _, function = place.partition(":")
    if name not in files:
        return (f"{ident}: no file {name}")
    text = files[name]
    span = span_of(text, function or None)
    if span is None:
        return (f"{ident}: no function {function} in {name}")
    pattern = r"\s+".join(re.escape(word) for word in old.split())
    hits = list(re.compile(pattern).finditer(text, *span))
    if len(hits) != 1:
        return (f"{ident}: its text occurs {len(hits)} times in {place}")
    if statement(old) != statement(new):
        return (f"{ident}: statements and expressions do not replace each other")
    was = hits[0].group()
    form = "(WRONG(%d) ? (%s) : (%s))"
    if statement(old):
        form = "{ if (WRONG(%d)) { %s } else { %s } }"
    files[name] = text[:hits[0].start()] + form % (n, new, was) + text[hits[0].end():]


def main(args):
    mutants = read_mutants(args[0])
    if args[1:] == ["--list"]:
        for n, mutant in enumerate(mutants, 1):
            print(n, mutant[0])
        return
    model = args[1]
    files = {name: open(os.path.join(model, name), encoding="utf-8").read()
             for name in sorted(os.listdir(model)) if re.search(r"\.(c|h|def)$", name)}
    # Longest text first: a mutant inside another one's text would hide it.
    order = sorted(range(len(mutants)), key=lambda i: -len(mutants[i][3]))
    errors = [e for e in (apply_one(i + 1, mutants[i], files) for i in order) if e]
    if errors:
        die("\n" + "\n".join(errors))
    if len(args) < 3:
        return
    shutil.rmtree(os.path.join(args[2], "model"), ignore_errors=True)
    os.makedirs(os.path.join(args[2], "model"))
    for name, text in files.items():
        with open(os.path.join(args[2], "model", name), "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(args[2], "wrong.h"), "w", encoding="utf-8") as f:
        f.write(HEADER)


main(sys.argv[1:])
