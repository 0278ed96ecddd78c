# SPDX-License-Identifier: BSD-3-Clause
"""Makes a scenario small: leaves out statements while a property holds."""
import copy
import json
import re

BLOCKS = ("do", "then", "else", "go", "defer", "call", "select", "default", "once")
AT_ONCE = 25  # candidates in one build


def statements(node):
    if isinstance(node, dict):
        return sum(statements(x) for x in node.values())
    if isinstance(node, list):
        return sum(isinstance(x, dict) for x in node) + sum(statements(x) for x in node)
    return 0


def changes(statement):
    """What may stand instead of a statement: nothing, one of its blocks, fewer of it."""
    yield []
    for key in BLOCKS[:6]:
        block = statement.get(key)
        if isinstance(block, list) and block and isinstance(block[0], dict):
            yield block
    if isinstance(statement.get("count"), int) and statement["count"] > 1:
        yield [dict(statement, count=statement["count"] // 2)]


def spots(node, path):
    """(path, statement) of every statement below node."""
    if isinstance(node, list):
        for i, x in enumerate(node):
            if isinstance(x, dict):
                yield path + [i], x
                yield from spots(x, path + [i])
    elif isinstance(node, dict):
        for key in BLOCKS:
            if isinstance(node.get(key), list):
                yield from spots(node[key], path + [key])


def smaller(scenario):
    """All scenarios with one statement less, outermost first."""
    found = list(spots(scenario["main"], ["main"]))
    for name, body in scenario.get("funcs", {}).items():
        if isinstance(body, dict):
            found += spots(body["do"], ["funcs", name, "do"])
        else:
            found += spots(body, ["funcs", name])
    for path, statement in sorted(found, key=lambda f: len(f[0])):
        for instead in changes(statement):
            result = copy.deepcopy(scenario)
            block = result
            for key in path[:-1]:
                block = block[key]
            block[path[-1]:path[-1] + 1] = copy.deepcopy(instead)
            yield prune(result)


def prune(scenario):
    """Without functions and objects that nothing names."""
    funcs, objects = scenario.get("funcs", {}), scenario.get("objects", {})
    for _ in range(len(funcs)):
        for name in list(funcs):
            rest = [scenario["main"], {k: v for k, v in funcs.items() if k != name}]
            if '"%s"' % name not in json.dumps(rest):
                del funcs[name]
    text = json.dumps([scenario["main"], funcs])
    locks = [o.get("cond") for o in objects.values() if isinstance(o, dict)]
    for name in list(objects):
        if name not in text and name not in locks:
            del objects[name]
    return scenario


def rename(scenario, i):
    """Many scenarios are one Go program: names begin with the scenario's number."""
    return json.loads(re.sub(r"\bs\d+_", "s%d_" % i, json.dumps(scenario)))


def shrink(scenario, holding):
    """holding(scenarios): those that have the property."""
    while True:
        candidates = list(smaller(scenario))
        for at in range(0, len(candidates), AT_ONCE):
            held = holding(candidates[at:at + AT_ONCE])
            if held:
                scenario = min(held, key=statements)
                break
        else:
            return scenario
