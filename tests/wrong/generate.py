#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes mutants of model/ from its text, and copies of model/ that hold some of them.

    generate.py MODEL                    how many there are, by file and kind
    generate.py MODEL --list             all of them
    generate.py MODEL OUT NUMBERS        writes OUT/model/* and OUT/wrong.h with those mutants, and
                                         OUT/mutants.tsv, which names them; NUMBERS: as --list says

Kinds:

    twice      an integer constant doubled; also a CONST of profile.def
    plus       ... one more
    edge       < for <=, > for >=, and back
    not        a condition negated: of an if, a loop, a ?:, each side of && and ||, each comparison
    drop       a statement left out
    from, to   the first or last release of a SWITCH of profile.def, one earlier (-) or later (+)

No mutants are: a dropped declaration or the return at the end of a function (it would not
compile, or return anything); a dropped throw, assert or (void): a check of the model's own that
never fires, and nothing; a break behind which is a break; the edge where the smaller or larger of
two is taken, and the constant of such a limit; constants that the compiler needs (cases, sizes,
enums, static data); what is likely, and how memory is aligned; and a mutant with the text of
another one.

A mutant is named by what it is and not by where: file, function, kind, text, and which of those
that are alike. So the name stays while the lines around it move.
"""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ctext  # noqa: E402

HEADER = """/* Written by generate.py. */
#ifndef GMPSIM_WRONG_H
#define GMPSIM_WRONG_H
#ifdef WRONG_FIXED /* one of them and no other: to compare what the compiler makes of it */
#define WRONG(n) ((n) == WRONG_FIXED)
#else
extern int wrong_mutant;
extern unsigned char *wrong_reached;
#define WRONG(n) (wrong_reached[n] = 1, __builtin_expect(wrong_mutant == (n), 0))
#endif
#endif
"""
EDGES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NEXT_BREAKS = re.compile(r"\s*(?:(?:case \w+|default):\s*)+break;")
HINTS = ("host_alloc(", "__builtin_expect(")
LEFT_OUT = re.compile(r"^(?:throw|badTimer|assert|__builtin_prefetch)\s*\(|^\(void\)\s*\w+\s*;$")


class Mutant:
    __slots__ = ("file", "function", "kind", "start", "end", "text", "make", "nth", "number")

    def __init__(self, file, function, kind, start, end, text, make):
        self.file, self.function, self.kind = file, function, kind
        self.start, self.end, self.make = start, end, make
        self.text = " ".join(text.split())
        self.nth = self.number = 0

    def name(self):
        return "\t".join((self.file, self.function, self.kind, self.text, str(self.nth)))


class Maker:
    """The visitor of ctext.Reader: collects the mutants of a file."""

    def __init__(self, file, text):
        self.file, self.text = file, text
        self.name = None
        self.mutants = []
        self.negated = set()

    def function(self, name):
        self.name = name

    def add(self, kind, start, end, make, text=None):
        self.mutants.append(Mutant(self.file, self.name, kind, start, end,
                                   text or self.text[start:end], make))

    def statement(self, kind, start, end, last, early):
        text = self.text[start:end]
        if LEFT_OUT.match(text) or (kind == "return" and not early):
            return
        if kind in ("break", "continue") and not early and last:
            return
        if kind == "break" and self.leads_nowhere(start, end):
            return
        self.add("drop", start, end, lambda n, s: "{ if (!WRONG(%d)) { %s } }" % (n, s))

    def leads_nowhere(self, start, end):
        """A break of a switch behind which is another one, or the switch's end."""
        if NEXT_BREAKS.match(self.text, end):
            return True
        return (re.search(r"(?:case \w+|default):\s*$", self.text[:start]) is not None and
                re.match(r"\s*\}", self.text[end:]) is not None)

    def expression(self, node, condition):
        if condition:
            self.negate(node)
        self.walk(node)

    def negate(self, node):
        while node.kind == "paren":
            node = node.parts[0]
        if node.kind in ("num", "str") or (node.start, node.end) in self.negated:
            return
        if node.kind == "unary" and node.op == "!":
            return self.negate(node.parts[0])
        self.negated.add((node.start, node.end))
        self.add("not", node.start, node.end, lambda n, s: "(!(%s) == WRONG(%d))" % (s, n))

    def walk(self, node):
        if node.kind == "num":
            self.number(node)
        elif node.kind == "binary":
            if node.op in ("&&", "||"):
                self.negate(node.parts[0])
                self.negate(node.parts[1])
            elif ctext.PRECEDENCE[node.op] in (6, 7):
                self.negate(node)
                if node.op in EDGES:
                    self.edge(node)
        elif node.kind == "ternary":
            self.negate(node.parts[0])
        elif node.kind == "unary" and node.op == "!":
            self.negate(node.parts[0])
        parts = node.parts
        if node.kind == "call" and self.text.startswith(HINTS, node.start):
            parts = parts[:-1]  # the alignment; what is likely
        for part in parts:
            self.walk(part)

    def number(self, node):
        digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", node.op).group()
        value, suffix = int(digits, 0), node.op[len(digits):]
        seen = {value}
        for kind, other in (("twice", 2 * value), ("plus", value + 1)):
            if kind == "plus" and self.is_clamp(node, value):
                continue
            if other not in seen and other < 1 << 63:
                seen.add(other)
                line = self.around(node.start, node.end)
                self.add(kind, node.start, node.end,
                         lambda n, s, o=f"{other}{suffix}": f"(WRONG({n}) ? {o} : {s})", line)

    def is_tie(self, node):
        """The smaller or larger of two: which of two equal ones is no difference."""
        left, right = (re.escape(self.text[n.start:n.end]) for n in node.parts)
        before, after = self.text[:node.start].rstrip(), self.text[node.end:]
        cast = r"(?:\(\w+\))?"
        if before.endswith(("&&", "||")):
            return False
        return any(re.match(rf"\s*\?\s*{cast}{a}\s*:\s*{cast}{b}\s*[;,)]", after) or
                   (before.endswith("if (") and re.match(rf"\)\s*{a} = {b};", after))
                   for a, b in ((left, right), (right, left)))

    def is_clamp(self, node, value):
        """The 0 of x > 0 ? x : 1, or the first 9 of if (x < 9) x = 9: one more says the same."""
        before, after = self.text[:node.start], self.text[node.end:]
        raised = re.search(r"([\w>.-]+) > $", before)
        if raised and re.match(rf" \? (?:\(\w+\))?{re.escape(raised[1])} : {value + 1}\b", after):
            return True
        least = re.search(r"if \(([\w>.-]+) < $", before)
        return bool(least and re.match(rf"\)\s*{re.escape(least[1])} = {value}\b", after))

    def edge(self, node):
        if self.is_tie(node):
            return
        left, right = node.parts
        text = self.text
        between = text[left.end:right.start]
        self.add("edge", node.start, node.end, (left, right, between.replace(
            node.op, EDGES[node.op], 1)))

    def around(self, start, end):
        """A constant says little by itself: its line, with the constant marked."""
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end)
        return "%s<%s>%s" % (self.text[first:start], self.text[start:end], self.text[end:last])


def mutants_of_c(file, text):
    maker = Maker(file, text)
    reader = ctext.Reader(text, maker)
    reader.read_file()
    for function, what in reader.unread:
        print(f"generate.py: {file}: {function}: not read: {what}", file=sys.stderr)
    return maker.mutants


def mutants_of_profile(text):
    out = []
    for m in re.finditer(r"^SWITCH\((\w+), (\d+), (\d+),", text, re.M):
        for kind, group in (("from", 2), ("to", 3)):
            at = int(m.group(group))
            for sign, other in (("-", at - 1), ("+", at + 1)):
                # before the first release and after the last one there is nothing to see
                if (other < 13 or at == 99 or other > 27 or
                        (kind == "from" and at == 13 and sign == "-")):
                    continue
                out.append(Mutant("profile.def", m.group(1), kind + sign, m.start(group),
                                  m.end(group), m.group(group),
                                  lambda n, s, o=other: (s, o)))
    for m in re.finditer(r"^CONST\((\w+), (-?\d+),", text, re.M):
        value = int(m.group(2))
        for kind, other in (("twice", 2 * value), ("plus", value + 1)):
            if other != value and not (kind == "plus" and other == 2 * value):
                out.append(Mutant("profile.def", m.group(1), kind, m.start(2), m.end(2),
                                  m.group(2), lambda n, s, o=other: (s, o)))
    return out


def read_model(model):
    return {name: open(os.path.join(model, name), encoding="utf-8").read()
            for name in sorted(os.listdir(model)) if re.search(r"\.(c|h|def)$", name)}


def all_mutants(files):
    out = []
    for file, text in files.items():
        if file == "profile.def":
            out += mutants_of_profile(text)
        elif file.endswith((".c", ".h")):
            out += mutants_of_c(file, text)
    alike, places, kept = {}, set(), []
    for m in out:
        key = (m.file, m.start, m.end, m.kind)
        if key in places:
            continue
        places.add(key)
        name = (m.file, m.function, m.kind, m.text)
        alike[name] = m.nth = alike.get(name, 0) + 1
        kept.append(m)
        m.number = len(kept)
    return kept


def render(text, mutants, numbers):
    """The text with every mutant beside it. Innermost first: spans nest, they never cross."""
    order = sorted(mutants, key=lambda m: (m.start, -m.end, m.kind != "drop", m.kind != "not"))

    def span(start, end, inside):
        out, at, i = "", start, 0
        while i < len(inside):
            m = inside[i]
            j = i + 1
            while j < len(inside) and inside[j].start < m.end:
                j += 1
            out += text[at:m.start] + one(m, inside[i + 1:j])
            at = m.end
            i = j
        return out + text[at:end]

    def one(m, inside):
        n = numbers[m.number]
        if isinstance(m.make, tuple):
            left, right, between = m.make
            if any((x.start, x.end) == (m.start, m.end) for x in inside):
                was = span(m.start, m.end, inside)  # another mutant of the very same span
                inside = [x for x in inside if (x.start, x.end) != (m.start, m.end)]
            else:
                was = None
            a = span(left.start, left.end, [x for x in inside if x.end <= left.end])
            b = span(right.start, right.end, [x for x in inside if x.start >= right.start])
            was = was or a + text[left.end:right.start] + b
            return "(WRONG(%d) ? %s%s%s : %s)" % (n, a, between, b, was)
        return m.make(n, span(m.start, m.end, inside))

    return span(0, len(text), order)


def profile_table(mutants, numbers):
    """profile.def is data: profile_wrong.inc changes it before a release is made of it."""
    out = ["/* Written by generate.py. */\n"]
    for m in mutants:
        field = {"f": "first", "t": "last"}[m.kind[0]] if m.kind[-1] in "+-" else "value"
        _, other = m.make(0, m.text)
        out.append('if (WRONG(%d) && strcmp(r->name, "%s") == 0) rule.%s = INT64_C(%d);\n' %
                   (numbers[m.number], m.function, field, other))
    return "".join(out)


def write(files, mutants, out):
    numbers = {m.number: i for i, m in enumerate(mutants, 1)}
    target = os.path.join(out, "model")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for name, text in files.items():
        own = [m for m in mutants if m.file == name]
        if name == "profile.def":
            with open(os.path.join(target, "profile_wrong.inc"), "w", encoding="utf-8") as f:
                f.write(profile_table(own, numbers))
        elif own:
            text = render(text, own, numbers)
        if name == "profile.c":
            text = re.sub(r"const struct profile_rule \*r = &profile_rules\[i\];"
                          r"(\s+(?:\{ if \(!WRONG\(\d+\)\) \{ )*put\()",
                          "struct profile_rule rule = profile_rules[i];\n"
                          "        const struct profile_rule *r = &rule;\n"
                          '#include "profile_wrong.inc"\n'
                          r"\1", text, count=1)
            assert "profile_wrong.inc" in text
        with open(os.path.join(target, name), "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(out, "wrong.h"), "w", encoding="utf-8") as f:
        f.write(HEADER)
    with open(os.path.join(out, "mutants.tsv"), "w", encoding="utf-8") as f:
        for m in mutants:
            f.write(f"{numbers[m.number]}\t{m.name()}\n")


def table(mutants):
    kinds = ("twice", "plus", "edge", "not", "drop", "release")
    count = {}
    for m in mutants:
        kind = "release" if m.kind[-1] in "+-" else m.kind
        for key in (m.file, "all"):
            row = count.setdefault(key, dict.fromkeys(kinds, 0))
            row[kind] += 1
    print("%-18s" % "file" + "".join("%9s" % k for k in kinds) + "      all")
    for file, row in sorted(count.items(), key=lambda x: (x[0] == "all", x[0])):
        print("%-18s" % file + "".join("%9d" % row[k] for k in kinds) + "%9d" % sum(row.values()))


def main(args):
    if not args:
        sys.exit(__doc__)
    files = read_model(args[0])
    mutants = all_mutants(files)
    if len(args) == 1:
        table(mutants)
    elif args[1] == "--list":
        for m in mutants:
            print(f"{m.number}\t{m.name()}")
    else:
        write(files, [mutants[int(n) - 1] for n in args[2:]], args[1])


if __name__ == "__main__":
    main(sys.argv[1:])
