# SPDX-License-Identifier: BSD-3-Clause
"""Random programs that no cost was fitted to: workers that compute, lock, yield, sleep, start
others and ask a server, in an order and for times that the seed decides. All of them end."""
import random

SEEDS = range(1, 7)


def duration(r, least, most):
    return "%dns" % int(least * (most / least) ** r.random())


def statement(r):
    kind = r.choice(["cpu", "cpu", "exp", "lock", "gosched", "ask", "ask", "send", "sleep", "go"])
    if kind == "exp":
        return [{"cpu": {"exp": duration(r, 500, 50000)}}]
    if kind == "lock":
        return [{"lock": "m"}, {"cpu": duration(r, 200, 10000)}, {"unlock": "m"}]
    if kind == "gosched":
        return [{"gosched": True}]
    if kind == "ask":
        return [{"send": "asked"}, {"recv": "answered"}]
    if kind == "send":
        return [{"select": [{"send": "spare"}, {"recv": "spare"}]}]
    if kind == "sleep":
        return [{"if": "i %% %d == 0" % r.randint(5, 50), "then": [
            {"sleep": duration(r, 20000, 500000)}]}]
    if kind == "go":
        return [{"add": "wg", "n": 1},
                {"go": [{"cpu": duration(r, 500, 20000)}, {"done": "wg"}]}]
    return [{"cpu": duration(r, 300, 100000)}]


def scenario(seed):
    r = random.Random("hold-out %d" % seed)
    funcs, main = {}, [{"go": "server", "count": r.randint(1, 3)}]
    for k in range(r.randint(2, 4)):
        body = [s for _ in range(r.randint(2, 6)) for s in statement(r)]
        funcs["worker%d" % k] = [
            {"set": "i", "value": 0},
            {"loop": r.randint(100, 400), "do": [{"set": "i", "value": "i + 1"}, *body]},
            {"done": "wg"}]
        count = r.randint(1, 6)
        main += [{"add": "wg", "n": count}, {"go": "worker%d" % k, "count": count}]
    funcs["server"] = [{"range": "asked", "into": "x", "do": [
        {"cpu": duration(r, 100, 5000)}, {"send": "answered"}]}]
    return {"name": "hold-out %d" % seed, "why": "A random program.", "procs": 4,
            "objects": {"m": "mutex", "wg": "waitgroup", "asked": {"chan": r.choice([0, 4])},
                        "answered": {"chan": r.choice([0, 4])}, "spare": {"chan": 2}},
            "funcs": funcs, "main": main + [{"wait": "wg"}], "expect": {"end": "finishes"}}
