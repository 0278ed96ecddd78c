#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rules about the sources that a compiler does not check.

usage: tidy.py [--rule NAME] [--list] [--self-test] [ROOT]

Each rule is a function rule_<name>(tree) that yields "file:line: what is wrong".
What applies where is in the tables at the top. Only committed files are looked at
(all files, where there is no git).
"""
import os
import re
import subprocess
import sys
import tempfile

# ---- the tables -----------------------------------------------------------------

# What the model shows to those above it: its api and the formats and names it speaks of.
MODEL_WINDOW = ["model/api.h", "model/prog.h", "model/profile.h", "model/counters.def",
                "model/tape.h", "model/waitreason.def"]
# Which folder may include from which. A folder may always include from itself; an
# entry is a folder or a single header. "*" is everything.
ARROWS = {
    "include": [],
    "model": [],  # <host.h> and the C library's plain headers, see below
    "sim/base": ["model/waitreason.def"],  # records speak of them
    "sim/virt": ["sim/base"],
    "sim/traced": ["sim/virt", "sim/base"],
    "sim/real": ["sim/base"],
    "sim/stress": ["sim/real", "sim/base"],
    "sim/explore": ["sim/virt/costs.h", "sim/base"],
    "program": MODEL_WINDOW + ["sim/base"],
    "scenarios": MODEL_WINDOW + ["sim/base", "program"],
    "run": ["include", "model", "sim/base", "sim/traced", "sim/virt/limits.h", "program",
            "scenarios"],
    # What lies behind run/host.h, and the only files that know it: they may also include ...
    "run/host_virt.c": ["sim/virt"],
    "run/host_traced.c": ["sim/virt", "sim/traced"],
    "run/host_explore.c": ["sim/explore"],
    "run/host_real.c": ["sim/real"],
    "run/host_stress.c": ["sim/real", "sim/stress"],
    "search": MODEL_WINDOW + ["model", "sim/base", "sim/virt/costs.h", "sim/explore", "scenarios",
                              "run"],
    "store": MODEL_WINDOW + ["sim/base", "sim/virt/costs.h", "scenarios", "run"],
    "replay": MODEL_WINDOW + ["sim/base", "sim/virt/costs.h", "scenarios", "run"],
    "plots": ["sim/base"],
    "cli": ["*"],
    "tests": ["*"],
    "bench": ["*"],
}
MODEL_SYSTEM_HEADERS = {"host.h", "stdbool.h", "stddef.h", "stdint.h", "limits.h", "string.h",
                        "inttypes.h", "stdarg.h", "stdio.h"}  # stdio: snprintf alone
WIDTH_MAX = 100
FUNCTION_LINES_MAX = 60
AROUND_SWITCH_MAX = 40  # of a longer function that is one switch
MUTANTS = "tests/wrong/"
FILE_LINES_MAX = 900
BANNED_IN_MODEL_AND_SIM = {
    r"\b(float|double|long double)\b": "floating point",
    r"\btime\s*\(": "wall clock",
    r"\bgettimeofday\s*\(": "wall clock",
    r"\bs?rand(om|48)?(_r)?\s*\(": "the C library's random numbers",
    r"\bqsort(_r)?\s*\(": "qsort: its order of equals is not defined",
}
# Reading a clock and allocating are for the real host alone.
BANNED_IN_MODEL_AND_VIRT = {
    r"\bclock(_gettime)?\s*\(": "wall clock",
}
MODEL_BANNED = {
    r"\b(m|c|re)alloc\s*\(": "malloc in the model",
    r"\b(v?f?printf|f?puts)\s*\(|\b(FILE|fopen|stdout|stderr)\b": "input and output in the model",
}
FIDELITY = {"same", "simplified", "ours"}
OLDEST, LATEST = 13, 27  # of the releases: 1.13 to 1.27
# Written so that this file does not match itself.
NOT_COMMITTED = {
    r"(?<![\w.$}-])/(work|root|home)/": "a machine's path",
    r"deb[.]debian[.]org|snapshot[.]debian[.]org|registry[.]npmjs[.]org|[.]pkg[.]dev\b":
        "the name of a package registry",
}
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
SPDX_SUFFIXES = (".c", ".h", ".cc", ".S", ".def", ".py", ".sh", ".cmake", ".go")
SPDX_NAMES = ("CMakeLists.txt", "Dockerfile", "dev")


# ---- the tree -------------------------------------------------------------------

class Tree:
    def __init__(self, root):
        self.root = root
        self.paths = sorted(self._list())
        self._text = {}

    def _list(self):
        if os.path.exists(os.path.join(self.root, ".git")):
            try:
                out = subprocess.run(["git", "-c", "safe.directory=*", "-C", self.root, "ls-files",
                                      "-z"], stdout=subprocess.PIPE, check=True).stdout
                names = os.fsdecode(out).split("\0")[:-1]
                return [p for p in names if os.path.isfile(os.path.join(self.root, p))]
            except FileNotFoundError:
                pass
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders if f not in (".git", "build", "Testing")]
            found += [os.path.relpath(os.path.join(folder, f), self.root) for f in files]
        return found

    def text(self, path):
        if path not in self._text:
            with open(os.path.join(self.root, path), "rb") as f:
                data = f.read()
            self._text[path] = "" if b"\0" in data else data.decode("utf-8", "replace")
        return self._text[path]

    def lines(self, path):
        return self.text(path).split("\n")

    def sources(self, folder="", suffixes=(".c", ".h")):
        prefix = folder + "/" if folder else ""
        return [p for p in self.paths if p.startswith(prefix) and p.endswith(suffixes)]


def without_comments(text):
    """C text with comments and literals blanked; line numbers stay."""
    def blank(match):
        found = match.group(0)
        kept = '""' if found[0] == '"' else "''" if found[0] == "'" else ""
        return kept + "\n" * found.count("\n")
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, blank, text, flags=re.S)


def functions(text):
    """Yields (name, first line, lines of the body) of every function definition."""
    lines = without_comments(text).split("\n")
    head = []
    start = None
    for number, line in enumerate(lines, 1):
        if start is not None:
            if line.startswith("}"):
                yield name, start, lines[start - 1:number]
                start, head = None, []
            continue
        one_line = re.match(r"(?:[A-Za-z_][\w\s*]*?[\s*])(\w+)\(.*\)\s*\{.*\}\s*$", line)
        if one_line and not re.match(r"(struct|union|enum|typedef)\b[^(]*\{", line):
            yield one_line.group(1), number, [line]
            head = []
        elif line.startswith("{"):
            name = name_of_head(" ".join(head))
            if name:
                start = number
            head = []
        elif not line.strip() or line.startswith(("#", "}", " ", "\t")) and not head:
            head = []
        elif line.rstrip().endswith(";") or line.startswith("#"):
            head = []
        else:
            head.append(line.strip())


def name_of_head(head):
    macro = re.match(r"TEST_CASE\((\w+),\s*(\w+)\)", head)
    if macro:
        return macro.group(1) + "." + macro.group(2)
    plain = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head)
    found = re.search(r"(\w+)\s*\(", plain)
    return found.group(1) if found else None


def search(tree, paths, patterns, strip=True):
    for path in paths:
        text = without_comments(tree.text(path)) if strip else tree.text(path)
        for number, line in enumerate(text.split("\n"), 1):
            for pattern, what in patterns.items():
                if re.search(pattern, line):
                    yield "%s:%d: %s" % (path, number, what)


# ---- the rules ------------------------------------------------------------------

def layer_of(path):
    for folder in sorted(ARROWS, key=len, reverse=True):
        if path.startswith(folder + "/"):
            return folder
    return None


def resolve(tree, path, name):
    """The project's headers that an #include of this name may mean, nearest first."""
    near = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if near in tree.paths:
        return [near]
    return [p for p in tree.paths if p == name or p.endswith("/" + name)]


def may_include(layer, target):
    allowed = ARROWS[layer]
    return (layer_of(target) == layer or "*" in allowed or target in allowed
            or layer_of(target) in allowed)


def rule_includes(tree):
    """Nothing includes upward; the model includes <host.h> and nothing else of the project."""
    for path in tree.sources("", (".c", ".h", ".cc", ".S", ".def")):
        layer = layer_of(path)
        if not layer:
            continue
        for number, line in enumerate(tree.lines(path), 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not found:
                continue
            kind, name = found.groups()
            where = "%s:%d: " % (path, number)
            targets = resolve(tree, path, name)
            if layer == "model":
                if kind == "<" and name not in MODEL_SYSTEM_HEADERS:
                    yield where + "the model includes <%s>" % name
                if kind == '"' and not any(layer_of(t) == "model" for t in targets):
                    yield where + 'the model includes "%s"' % name
            elif targets and not any(may_include(layer, t) or layer_of(t) in ARROWS.get(path, [])
                                     for t in targets):
                yield where + "%s must not include %s" % (layer, targets[0])


def rule_model_preprocessor(tree):
    """No #if in the model: a header's include guard is the one exception."""
    for path in tree.sources("model", (".c", ".h")):
        guard = path.endswith(".h")
        for number, line in enumerate(without_comments(tree.text(path)).split("\n"), 1):
            found = re.match(r"\s*#\s*(if\w*|elif\w*|else)\b\s*(.*)", line)
            if not found:
                continue
            if guard and found.group(1) == "ifndef" and found.group(2).strip().endswith("_H"):
                guard = False
                continue
            yield "%s:%d: #%s in the model" % (path, number, found.group(1))


def rule_seam(tree):
    """The `.v` of an ATOMIC is touched by host.h alone. (ATOMICs are members by value, so
    that a plain access reads `x->member.v`; a field called v of one's own is not meant.)"""
    yield from search(tree, tree.sources("model"), {r"[\w\])]\.v\b": ".v outside host.h"})


def rule_function_length(tree):
    """A function has up to 60 lines; a lone switch may have more."""
    for path in tree.sources("", (".c", ".h", ".cc")):
        for name, start, body in functions(tree.text(path)):
            if len(body) > FUNCTION_LINES_MAX and not is_lone_switch(body):
                yield "%s:%d: %s has %d lines" % (path, start, name, len(body))


def is_lone_switch(body):
    for first, line in enumerate(body):
        if not re.match(r"\s+switch\s*\(", line):
            continue
        depth = 0
        for last in range(first, len(body)):
            depth += body[last].count("{") - body[last].count("}")
            if depth == 0:
                return len(body) - (last - first) <= AROUND_SWITCH_MAX
    return False


def rule_file_length(tree):
    """A C file has at most 900 lines (100 to 600 is what we want)."""
    for path in tree.sources("", (".c", ".h", ".cc", ".S")):
        count = len(tree.lines(path)) - 1
        if count > FILE_LINES_MAX:
            yield "%s:1: %d lines" % (path, count)


def rule_width(tree):
    """Lines have up to 100 columns; C files have no tabs."""
    kinds = (".c", ".h", ".cc", ".S", ".def", ".py", ".sh", ".cmake", "CMakeLists.txt")
    for path in tree.sources("", kinds):
        for number, line in enumerate(tree.lines(path), 1):
            if len(line) > WIDTH_MAX:
                yield "%s:%d: %d columns" % (path, number, len(line))
            if line != line.rstrip():
                yield "%s:%d: space at the end of the line" % (path, number)
            if "\t" in line and path.endswith((".c", ".h", ".cc")):
                yield "%s:%d: tab" % (path, number)


def rule_spdx(tree):
    """Every source file names its licence in its first three lines."""
    for path in tree.paths:
        first = tree.lines(path)[:3]
        is_script = first[0].startswith("#!")
        is_source = path.endswith(SPDX_SUFFIXES) or os.path.basename(path) in SPDX_NAMES
        if (is_script or is_source) and not any(SPDX in line for line in first):
            yield "%s:1: no SPDX line" % path


def says_what_it_is(text):
    """Has a comment between the licence and the first declaration."""
    rest = text.split("\n", 1)[-1]
    first = re.search(r"^(/\*|(?![#\s]).)", rest, re.M)
    return bool(first) and first.group(1) == "/*"


def rule_head(tree):
    """A file says what it is for before it begins; a .c may leave that to its header."""
    for path in tree.sources():
        if path.startswith(("tests/", "bench/")):
            continue
        header = path[:-2] + ".h"
        heads = [path] + ([header] if header in tree.paths else [])
        if not any(says_what_it_is(tree.text(p)) for p in heads):
            yield "%s:1: no word about what it is" % path


def rule_determinism(tree):
    """No float, wall clock or random numbers of the C library in model and sim."""
    both = tree.sources("model", (".c", ".h", ".def")) + tree.sources("sim", (".c", ".h", ".def"))
    yield from search(tree, both, BANNED_IN_MODEL_AND_SIM)
    yield from search(tree, [p for p in both if not p.startswith("sim/real/")],
                      BANNED_IN_MODEL_AND_VIRT)
    yield from search(tree, tree.sources("model"), MODEL_BANNED)


def rule_machine(tree):
    """No committed file names this machine's paths or package registries."""
    patterns = dict(NOT_COMMITTED)
    for host in registry_hosts():
        patterns[re.escape(host)] = "the name of a package registry of this machine"
    yield from search(tree, tree.paths, patterns, strip=False)


def registry_hosts():
    """Host names in this machine's apt configuration: read, never written down."""
    hosts = set()
    folders = ["/etc/apt/sources.list.d", "/etc/apt"]
    for folder in folders:
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if name.endswith((".list", ".sources")):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                    hosts.update(re.findall(r"https?://([\w.-]+\.\w+)", f.read()))
    return sorted(hosts)


def rule_links(tree):
    """A relative link in a document leads to a committed file or folder."""
    folders = {os.path.dirname(p) for p in tree.paths}
    for path in tree.sources("", (".md",)):
        for number, line in enumerate(tree.lines(path), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:|#", target):
                    continue
                file = target.split("#")[0].rstrip("/")
                file = os.path.normpath(os.path.join(os.path.dirname(path), file))
                if file not in tree.paths and file not in folders:
                    yield "%s:%d: no file %s" % (path, number, target)


def mirror_releases(go_function, releases):
    """What is wrong with a row's releases, and with the one up to which Go's name is another:
    `1.14-1.22`, `1.14-` or `1.14`, and `newname (to 1.19: oldname)`."""
    span = re.fullmatch(r"1\.(\d\d)(?:(-)(?:1\.(\d\d))?)?", releases)
    if not span:
        yield "releases '%s' are not like 1.14-1.22, 1.14- or 1.14" % releases
        return
    first = int(span[1])
    last = int(span[3]) if span[3] else LATEST if span[2] else first
    if not OLDEST <= first <= last <= LATEST:
        yield "releases '%s' are not from 1.%d to 1.%d" % (releases, OLDEST, LATEST)
    older = re.search(r"\(to 1\.(\d\d): .+\)$", go_function)
    if "(to " in go_function and not older:
        yield "'%s' is not like new (to 1.19: old)" % go_function
    if older and not first <= int(older[1]) < last:
        yield "'%s' is about no release of %s" % (go_function, releases)


def rule_mirror(tree):
    """model/MIRROR.tsv lists every function of the model, and only those."""
    table = "model/MIRROR.tsv"
    if table not in tree.paths:
        return
    listed = {}
    for number, line in enumerate(tree.lines(table), 1):
        if not line or line.startswith(("#", "c_function\t")):
            continue
        cells = line.split("\t")
        where = "%s:%d: " % (table, number)
        if len(cells) != 6:
            yield where + "want 6 columns, got %d" % len(cells)
            continue
        if cells[0] in listed:
            yield where + "%s is listed twice" % cells[0]
        if cells[4] not in FIDELITY:
            yield where + "fidelity '%s' is none of %s" % (cells[4], sorted(FIDELITY))
        listed[cells[0]] = number
        for what in mirror_releases(cells[2], cells[3]):
            yield where + what
    defined = {}
    for path in tree.sources("model"):
        for name, start, _ in functions(tree.text(path)):
            defined.setdefault(name, "%s:%d: " % (path, start))
    for name in sorted(set(defined) - set(listed)):
        yield defined[name] + "%s is not in %s" % (name, table)
    for name in sorted(set(listed) - set(defined)):
        yield "%s:%d: no function %s in the model" % (table, listed[name], name)


def tests_of(tree):
    """The cases, and the files that are tests themselves."""
    cases = set()
    for path in tree.paths:
        if path.startswith("tests/"):
            cases.update({path, os.path.basename(path), os.path.basename(path).split(".")[0]})
            if path.endswith(".c"):
                for suite, name in re.findall(r"TEST_CASE\((\w+),\s*(\w+)\)", tree.text(path)):
                    cases.update({suite, suite + "." + name})
    return cases


def rule_mirror_tests(tree):
    """The test that MIRROR.tsv names for a function exists."""
    table = "model/MIRROR.tsv"
    if table not in tree.paths:
        return
    tests = tests_of(tree)
    for number, line in enumerate(tree.lines(table), 1):
        cells = line.split("\t")
        if len(cells) != 6 or line.startswith(("#", "c_function\t")):
            continue
        for test in re.split(r"[ ,]+", cells[5].strip()):
            if test not in tests:
                yield "%s:%d: no test '%s'" % (table, number, test)


def rule_coverage(tree):
    """docs/coverage.md: every part has functions, tests, and a scenario or a reason."""
    page = "docs/coverage.md"
    if page not in tree.paths:
        return
    tests, functions = tests_of(tree), {name for name, _ in first_cells(tree, "model/MIRROR.tsv")}
    for number, line in enumerate(tree.lines(page), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or cells[1] == "functions":
            continue
        if len(cells) != 4:
            yield "%s:%d: want four columns" % (page, number)
            continue
        for name in cells[1].split(", "):
            if name.strip("`") not in functions:
                yield "%s:%d: no function %s in MIRROR.tsv" % (page, number, name)
        for name in cells[2].split(", "):
            if name not in tests:
                yield "%s:%d: no test '%s'" % (page, number, name)
        if not cells[3].startswith(("[", "(")):  # the rule links checks that the file is there
            yield "%s:%d: neither a scenario nor a reason" % (page, number)


def first_cells(tree, path):
    """(first cell, line) of every row of a table."""
    rows = tree.lines(path) if path in tree.paths else []
    return [(row.split("\t")[0], number) for number, row in enumerate(rows, 1)
            if row and not row.startswith("#")]


def rule_mutants(tree):
    """Every mutant has one verdict: in measured.tsv or in survivors.tsv."""
    mutants = dict(first_cells(tree, MUTANTS + "mutants.tsv"))
    verdicts = {}
    for table in ("measured.tsv", "survivors.tsv"):
        for name, number in first_cells(tree, MUTANTS + table):
            if name not in mutants:
                yield "%s:%d: no mutant %s" % (MUTANTS + table, number, name)
            if name in verdicts:
                yield "%s:%d: %s has a verdict already" % (MUTANTS + table, number, name)
            verdicts[name] = table
    for name in sorted(set(mutants) - set(verdicts)):
        yield "%smutants.tsv:%d: no verdict on %s" % (MUTANTS, mutants[name], name)


RULES = {name[5:].replace("_", "-"): fn for name, fn in sorted(globals().items())
         if name.startswith("rule_")}


# ---- self-test: every rule must find what it is for ------------------------------

SPDX_C = "/* %s */\n" % SPDX
BAD = [  # rule, path, text, what must be found (None: nothing)
    ("includes", "model/a.c", '#include <stdlib.h>\n', "the model includes <stdlib.h>"),
    ("includes", "model/b.c", '#include "sim/base/x.h"\n', 'the model includes "sim/base/x.h"'),
    ("includes", "model/c.c", '#include <host.h>\n#include "api.h"\n', None),
    ("includes", "sim/base/up.c", '#include "../../scenarios/s.h"\n', "must not include scenarios"),
    ("includes", "scenarios/ok.c", '#include "model/api.h"\n#include "sim/base/x.h"\n', None),
    ("includes", "scenarios/up.c", '#include "model/proc.h"\n', "must not include model/proc.h"),
    ("includes", "plots/up.c", '#include <scenarios/s.h>\n', "plots must not include"),
    ("model-preprocessor", "model/a.c", "#ifdef X\n#endif\n", "#ifdef in the model"),
    ("model-preprocessor", "model/a.h", "#ifndef A_H\n#define A_H\n#endif\n", None),
    ("model-preprocessor", "model/b.h", "#ifndef B_H\n#if 1\n#endif\n#endif\n", "#if in the model"),
    ("seam", "model/a.c", "int x = pp->runqhead.v;\n", ".v outside host.h"),
    ("seam", "model/b.c", "int x = pp->runqhead.value + c->v; /* .v */\n", None),
    ("function-length", "model/a.c", "int f(void)\n{\n" + "    x();\n" * 70 + "}\n",
     "f has 72 lines"),
    ("function-length", "model/b.c", "int f(int a)\n{\n    switch (a) {\n" +
     "    case 0: {\n    }\n" + "    case 1: return 2;\n" * 70 + "    }\n    return 0;\n}\n", None),
    ("function-length", "tests/t.c", "TEST_CASE(A, B)\n{\n" + "    x();\n" * 70 + "}\n",
     "A.B has 72 lines"),
    ("file-length", "cli/a.c", "int x;\n" * 901, "901 lines"),
    ("width", "cli/a.c", "/*" + "x" * 100 + "*/\n", "104 columns"),
    ("width", "cli/b.c", "\tint x;\n", "tab"),
    ("spdx", "cli/a.c", "int x;\n", "no SPDX line"),
    ("spdx", "cli/b.c", SPDX_C + "int x;\n", None),
    ("head", "cli/a.c", SPDX_C + '#include "a.h"\nint x;\n', "no word about what it is"),
    ("head", "cli/b.c", SPDX_C + "/* What it is. */\nint x;\n", None),
    ("head", "cli/b.h", SPDX_C + "#ifndef B\n#define B\n/* What it is. */\nint x;\n", None),
    ("determinism", "model/a.c", "double x;\n", "floating point"),
    ("determinism", "sim/virt/a.c", "x = time(NULL);\n", "wall clock"),
    ("determinism", "sim/virt/b.c", "x = nanotime(); /* time() rand() */\n", None),
    ("determinism", "sim/virt/c.c", "clock_gettime(0, &t);\n", "wall clock"),
    ("determinism", "sim/real/c.c", "clock_gettime(0, &t);\n", None),
    ("determinism", "model/d.c", "p = malloc(3);\n", "malloc in the model"),
    ("determinism", "model/e.c", "fprintf(stderr, s);\n", "input and output in the model"),
    ("determinism", "model/f.c", "snprintf(b, n, s);\n", None),
    ("machine", "docs/a.md", "see /wo" "rk/main\n", "a machine's path"),
    ("machine", "docs/b.md", "see build/work/main\n", None),
    ("links", "docs/a.md", "see [b](b.md) and [c](../model/api.h#x)\n", "no file b.md"),
    ("links", "docs/a.md", "see [c](../model/api.h#x), [w](http:x), [d](../model)\n", None),
    ("mirror", "model/a.c", "static int gone(void)\n{\n    return 1;\n}\n", "gone is not in"),
    ("mirror", "model/b.c", "static int one(void) { return 1; }\n", "one is not in"),
    ("mirror", "model/c.c", "static int there(int a,\n                 int b)\n{\n}\n", None),
    ("mirror", "model/MIRROR.tsv", "ghost\tproc.go\tghost\t1.19-\tsame\tA.B\n",
     "no function ghost"),
    ("mirror", "model/MIRROR.tsv", "there\tproc.go\tx\t1.19-\tmaybe\tA.B\n", "fidelity 'maybe'"),
    ("mirror", "model/MIRROR.tsv", "there\tproc.go\tx\t19-\tsame\tA.B\n", "releases '19-'"),
    ("mirror", "model/MIRROR.tsv", "there\tproc.go\tx\t1.22-1.19\tsame\tA.B\n",
     "releases '1.22-1.19'"),
    ("mirror", "model/MIRROR.tsv", "there\tproc.go\tx (to 1.19: y)\t1.20-\tsame\tA.B\n",
     "about no release of 1.20-"),
    ("mirror", "model/MIRROR.tsv", "there\tproc.go\tx (to 1.19 y)\t1.13-\tsame\tA.B\n",
     "is not like new"),
    ("mirror", "model/MIRROR.tsv", "there\tproc.go\tx (to 1.19: y)\t1.13-\tsame\tA.B\n", None),
    ("mirror-tests", "model/MIRROR.tsv", "there\tproc.go\tx\t1.19-\tsame\tNo.Such\n",
     "no test 'No.Such'"),
    ("mirror-tests", "model/MIRROR.tsv", "there\tproc.go\tx\t1.19-\tsame\tA.B\n", None),
    ("coverage", "docs/coverage.md", "| x | `gone` | A.B | [s](s.json) |\n", "no function `gone`"),
    ("coverage", "docs/coverage.md", "| x | `there` | A.C | (why) |\n", "no test 'A.C'"),
    ("coverage", "docs/coverage.md", "| x | `there` | A.B | |\n", "neither a scenario"),
    ("coverage", "docs/coverage.md", "| x | `there` | A.B |\n", "want four columns"),
    ("coverage", "docs/coverage.md", "| | functions | tests | scenarios |\n|---|---|---|---|\n"
     "| x | `there` | A.B | [s](s.json) |\n", None),
    ("mutants", "tests/wrong/measured.tsv", "", "no verdict on bad"),
    ("mutants", "tests/wrong/survivors.tsv", "bad\twhy\n", "bad has a verdict already"),
    ("mutants", "tests/wrong/survivors.tsv", "good\twhy\n", "no mutant good"),
    ("mutants", "tests/wrong/survivors.tsv", "# id\twhy\n", None),
]
GOOD = {
    "model/api.h": "", "model/proc.h": "", "sim/base/x.h": "", "scenarios/s.h": "",
    "model/there.c": "static int there(void)\n{\n}\n",
    "model/MIRROR.tsv": "there\tproc.go\tthere\t1.19-\tsame\tA.B\n",
    "tests/a_test.c": "TEST_CASE(A, B)\n{\n}\n",
    "tests/wrong/mutants.tsv": "# id\tplace\nbad\ta.c\n",
    "tests/wrong/measured.tsv": "bad\ta.b\n",
}


def self_test():
    failures = 0
    for rule, path, text, want in BAD:
        with tempfile.TemporaryDirectory() as root:
            files = dict(GOOD)
            if path.startswith("model/") and path.endswith(".c"):
                del files["model/there.c"]
                files["model/there.c"] = GOOD["model/there.c"] if path != "model/c.c" else ""
            files[path] = text
            for name, content in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                    f.write(content)
            found = [f for f in RULES[rule](Tree(root)) if f.startswith(path) or want]
        if want is None and found or want is not None and not any(want in f for f in found):
            failures += 1
            print("self-test: rule %s on %s: want %s, got %s" % (rule, path, want, found))
    untested = set(RULES) - {rule for rule, _, _, want in BAD if want}
    for rule in sorted(untested):
        failures += 1
        print("self-test: rule %s is not shown to find anything" % rule)
    print("self-test: %d cases, %d failures" % (len(BAD), failures))
    return failures


def main(args):
    if "--list" in args:
        for name, fn in RULES.items():
            print("%-20s %s" % (name, fn.__doc__))
        return 0
    if "--self-test" in args:
        return 1 if self_test() else 0
    names = list(RULES)
    if "--rule" in args:
        at = args.index("--rule")
        names = [args[at + 1]]
        del args[at:at + 2]
    if any(n not in RULES for n in names) or len(args) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    tree = Tree(args[0] if args else ".")
    count = 0
    for name in names:
        for finding in RULES[name](tree):
            print("%s [%s]" % (finding, name))
            count += 1
    print("%d files, %d findings" % (len(tree.paths), count))
    return 1 if count or not tree.paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
