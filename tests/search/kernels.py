# SPDX-License-Identifier: BSD-3-Clause
"""Small concurrent programs with a known defect each, and the same without it.

KERNELS maps a name to (verdict, broken, fixed): what explore has to say of the broken one; fixed is
None where the defect is the whole program. A body is written in the scenario language; `k` fills
in what is always the same.
"""


def k(objects, main, **funcs):
    return {"objects": objects, "main": main, "funcs": funcs}


def lock(*names):
    return [{"lock": n} for n in names]


def unlock(*names):
    return [{"unlock": n} for n in names]


WG = {"wg": "waitgroup"}
ADD = {"add": "wg", "n": 2}
DONE = {"done": "wg"}
WAIT = {"wait": "wg"}


def two(a, b):
    """main starts both and waits for them."""
    return [ADD, {"go": a}, {"go": b}, WAIT]


def recv(c, **more):
    return {"recv": c, **more}


def send(c, value=1):
    return {"send": c, "value": value}


def aload(v, into):
    return {"load": v, "into": into, "atomic": True}


def astore(v, value):
    return {"store": v, "value": value, "atomic": True}


KERNELS = {
    # ---- locks ----
    "abba": (
        "deadlock",
        k({**WG, "a": "mutex", "b": "mutex"}, two("one", "two"),
          one=[*lock("a", "b"), *unlock("b", "a"), DONE],
          two=[*lock("b", "a"), *unlock("a", "b"), DONE]),
        k({**WG, "a": "mutex", "b": "mutex"}, two("one", "one"),
          one=[*lock("a", "b"), *unlock("b", "a"), DONE])),
    "three in a ring": (
        "deadlock",
        k({**WG, "a": "mutex", "b": "mutex", "c": "mutex"},
          [{"add": "wg", "n": 3}, {"go": "x"}, {"go": "y"}, {"go": "z"}, WAIT],
          x=[*lock("a", "b"), *unlock("b", "a"), DONE],
          y=[*lock("b", "c"), *unlock("c", "b"), DONE],
          z=[*lock("c", "a"), *unlock("a", "c"), DONE]),
        k({**WG, "a": "mutex", "b": "mutex", "c": "mutex"},
          [{"add": "wg", "n": 3}, {"go": "x"}, {"go": "y"}, {"go": "z"}, WAIT],
          x=[*lock("a", "b"), *unlock("b", "a"), DONE],
          y=[*lock("b", "c"), *unlock("c", "b"), DONE],
          z=[*lock("a", "c"), *unlock("c", "a"), DONE])),
    "recursive read lock": (
        "deadlock",
        k({**WG, "w": "rwmutex"}, two("reader", "writer"),
          reader=[{"rlock": "w"}, {"rlock": "w"}, {"runlock": "w"}, {"runlock": "w"}, DONE],
          writer=[*lock("w"), *unlock("w"), DONE]),
        k({**WG, "w": "rwmutex"}, two("reader", "writer"),
          reader=[{"rlock": "w"}, {"runlock": "w"}, {"rlock": "w"}, {"runlock": "w"}, DONE],
          writer=[*lock("w"), *unlock("w"), DONE])),
    "return without unlock": (
        "deadlock",
        k({**WG, "m": "mutex", "closed": "var"}, two("worker", "closer"),
          worker=[{"loop": 2, "do": [*lock("m"), {"load": "closed", "into": "c"},
                                     {"if": "c == 1", "then": [DONE, {"return": None}]},
                                     *unlock("m")]}, DONE],
          closer=[*lock("m"), {"store": "closed", "value": 1}, *unlock("m"), *lock("m"),
                  *unlock("m"), DONE]),
        k({**WG, "m": "mutex", "closed": "var"}, two("worker", "closer"),
          worker=[{"loop": 2, "do": [*lock("m"), {"load": "closed", "into": "c"},
                                     *unlock("m"),
                                     {"if": "c == 1", "then": [DONE, {"return": None}]}]}, DONE],
          closer=[*lock("m"), {"store": "closed", "value": 1}, *unlock("m"), *lock("m"),
                  *unlock("m"), DONE])),
    "double lock": (
        "deadlock",
        k({"m": "mutex"}, [*lock("m", "m")]), None),
    "lock held over a send": (
        "deadlock",
        k({**WG, "m": "mutex", "c": "chan"}, two("sender", "receiver"),
          sender=[*lock("m"), send("c"), *unlock("m"), DONE],
          receiver=[*lock("m"), *unlock("m"), recv("c"), DONE]),
        k({**WG, "m": "mutex", "c": {"chan": 1}}, two("sender", "receiver"),
          sender=[*lock("m"), send("c"), *unlock("m"), DONE],
          receiver=[*lock("m"), *unlock("m"), recv("c"), DONE])),
    "unlock of what is not locked": (
        "fatal error",
        k({**WG, "m": "mutex"}, two("a", "b"), a=[*lock("m"), *unlock("m"), DONE],
          b=[{"trylock": "m", "into": "got"}, *unlock("m"), DONE]),
        k({**WG, "m": "mutex"}, two("a", "b"), a=[*lock("m"), *unlock("m"), DONE],
          b=[{"trylock": "m", "into": "got"}, {"if": "got", "then": [*unlock("m")]}, DONE])),

    # ---- channels ----
    "send on closed": (
        "panic",
        k({**WG, "c": {"chan": 1}}, [{"add": "wg"}, {"go": "s"}, {"close": "c"}, WAIT],
          s=[send("c"), DONE]),
        k({**WG, "c": {"chan": 1}}, [{"add": "wg"}, {"go": "s"}, WAIT, {"close": "c"}],
          s=[send("c"), DONE])),
    "double close": (
        "panic",
        k({**WG, "c": "chan", "closed": "var"}, two("closer", "closer"),
          closer=[{"load": "closed", "atomic": True, "into": "x"},
                  {"if": "x == 0", "then": [{"store": "closed", "value": 1, "atomic": True},
                                            {"close": "c"}]}, DONE]),
        k({**WG, "c": "chan", "closed": "var"}, two("closer", "closer"),
          closer=[{"cas": "closed", "old": 0, "new": 1, "into": "won"},
                  {"if": "won", "then": [{"close": "c"}]}, DONE])),
    "nobody receives": (
        "leak",
        k({"c": "chan"}, [{"go": "s"}, {"sleep": "1ms"}], s=[send("c")]),
        k({"c": {"chan": 1}}, [{"go": "s"}, {"sleep": "1ms"}], s=[send("c")])),
    "first answer wins": (
        "leak",
        k({"c": "chan"}, [{"go": "ask", "count": 2}, recv("c")], ask=[send("c")]),
        k({"c": {"chan": 2}}, [{"go": "ask", "count": 2}, recv("c")], ask=[send("c")])),
    "timeout leaves the worker": (
        "leak",
        k({"c": "chan"}, [{"go": "work"}, {"after": "1ms", "into": "t"},
                          {"select": [recv("c"), recv("t")]}],
          work=[{"sleep": "1ms"}, send("c")]),
        k({"c": {"chan": 1}}, [{"go": "work"}, {"after": "1ms", "into": "t"},
                               {"select": [recv("c"), recv("t")]}],
          work=[{"sleep": "1ms"}, send("c")])),
    "range never closed": (
        "leak",
        k({**WG, "c": "chan"}, [{"add": "wg"}, {"go": "consumer"},
                                {"loop": 3, "index": "i", "do": [send("c", "i")]}],
          consumer=[{"range": "c", "into": "x", "do": []}, DONE]),
        k({**WG, "c": "chan"}, [{"add": "wg"}, {"go": "consumer"},
                                {"loop": 3, "index": "i", "do": [send("c", "i")]},
                                {"close": "c"}, WAIT],
          consumer=[{"range": "c", "into": "x", "do": []}, DONE])),
    "select takes stop first": (
        "leak",
        k({"c": "chan", "stop": "chan"},
          [{"go": "p"}, {"go": "s"}, {"select": [recv("c"), recv("stop")]}],
          p=[send("c")], s=[{"close": "stop"}]),
        k({"c": {"chan": 1}, "stop": "chan"},
          [{"go": "p"}, {"go": "s"}, {"select": [recv("c"), recv("stop")]}],
          p=[send("c")], s=[{"close": "stop"}])),
    "status loop and stop": (
        "leak",
        k({"st": "chan", "ans": "chan", "stop": "chan", "done": "chan"},
          [{"go": "node"}, {"go": "asker"}, send("stop"), recv("done")],
          node=[{"loop": "forever", "do": [{"select": [
              recv("st", do=[send("ans")]),
              recv("stop", do=[{"close": "done"}, {"return": None}])]}]}],
          asker=[send("st"), recv("ans")]),
        k({"st": "chan", "ans": "chan", "stop": "chan", "done": "chan"},
          [{"go": "node"}, {"go": "asker"}, send("stop"), recv("done")],
          node=[{"loop": "forever", "do": [{"select": [
              recv("st", do=[send("ans")]),
              recv("stop", do=[{"close": "done"}, {"return": None}])]}]}],
          asker=[{"select": [{"send": "st", "value": 1, "do": [recv("ans")]}, recv("done")]}])),
    "nil channel": (
        "deadlock",
        k({"c": "chan"}, [{"set": "x", "value": "nil"}, {"send": "x", "value": 1}]), None),
    "work after the pool has gone": (
        "deadlock",
        k({**WG, "jobs": "chan", "quit": "chan"},
          [{"add": "wg"}, {"go": "worker"}, {"go": "quitter"}, send("jobs"), WAIT],
          worker=[{"loop": "forever", "do": [{"select": [
              recv("jobs", do=[DONE, {"return": None}]), recv("quit", do=[DONE, {"return": None}])
              ]}]}],
          quitter=[{"close": "quit"}]),
        k({**WG, "jobs": "chan", "quit": "chan"},
          [{"add": "wg"}, {"go": "worker"}, {"go": "quitter"},
           {"select": [{"send": "jobs", "value": 1}, recv("quit")]}, WAIT],
          worker=[{"loop": "forever", "do": [{"select": [
              recv("jobs", do=[DONE, {"return": None}]), recv("quit", do=[DONE, {"return": None}])
              ]}]}],
          quitter=[{"close": "quit"}])),
    "order of two channels": (
        "deadlock",
        k({**WG, "a": "chan", "b": "chan"}, two("x", "y"),
          x=[{"random": [{"do": [send("a"), send("b")]}, {"do": [send("b"), send("a")]}]}, DONE],
          y=[recv("a"), recv("b"), DONE]),
        k({**WG, "a": "chan", "b": "chan"}, two("x", "y"),
          x=[send("a"), send("b"), DONE], y=[recv("a"), recv("b"), DONE])),

    # ---- wait groups ----
    "add inside": (
        "not as expected",
        {**k({**WG, "n": "var"}, [{"go": "w", "count": 2}, WAIT,
                                  {"load": "n", "into": "x", "atomic": True},
                                  {"print": "%d", "args": ["x"]}],
             w=[{"add": "wg"}, {"atomic_add": "n"}, DONE]),
         "expect": {"output": ["2"]}},
        {**k({**WG, "n": "var"}, [ADD, {"go": "w", "count": 2}, WAIT,
                                  {"load": "n", "into": "x", "atomic": True},
                                  {"print": "%d", "args": ["x"]}],
             w=[{"atomic_add": "n"}, DONE]),
         "expect": {"output": ["2"]}}),
    "one done too many": (
        "panic",
        k({**WG}, [{"add": "wg"}, {"go": "w"}, {"go": "w"}, WAIT], w=[DONE]),
        k({**WG}, [ADD, {"go": "w"}, {"go": "w"}, WAIT], w=[DONE])),
    "one done too few": (
        "deadlock",
        k({**WG, "e": "var"}, [ADD, {"go": "w", "count": 2}, WAIT],
          w=[{"atomic_add": "e", "into": "x"}, {"if": "x == 2", "then": [{"return": None}]},
             DONE]),
        k({**WG, "e": "var"}, [ADD, {"go": "w", "count": 2}, WAIT],
          w=[{"atomic_add": "e", "into": "x"}, {"if": "x == 2", "then": [DONE, {"return": None}]},
             DONE])),
    "wait inside the loop": (
        "deadlock",
        k({**WG}, [ADD, {"loop": 2, "do": [{"go": "w"}, WAIT]}], w=[DONE]),
        k({**WG}, [ADD, {"loop": 2, "do": [{"go": "w"}]}, WAIT], w=[DONE])),

    # ---- conditions ----
    "lost signal": (
        "deadlock",
        k({**WG, "m": "mutex", "cv": {"cond": "m"}}, two("waiter", "signaller"),
          waiter=[*lock("m"), {"wait": "cv"}, *unlock("m"), DONE],
          signaller=[{"signal": "cv"}, DONE]),
        k({**WG, "m": "mutex", "cv": {"cond": "m"}, "ok": "var"}, two("waiter", "signaller"),
          waiter=[*lock("m"), {"load": "ok", "into": "x"},
                  {"while": "x == 0", "do": [{"wait": "cv"}, {"load": "ok", "into": "x"}]},
                  *unlock("m"), DONE],
          signaller=[*lock("m"), {"store": "ok", "value": 1}, {"signal": "cv"}, *unlock("m"),
                     DONE])),
    "signal where broadcast is needed": (
        "deadlock",
        k({"wg": "waitgroup", "m": "mutex", "cv": {"cond": "m"}, "ok": "var"},
          [{"add": "wg", "n": 3}, {"go": "waiter", "count": 2}, {"go": "setter"}, WAIT],
          waiter=[*lock("m"), {"load": "ok", "into": "x"},
                  {"while": "x == 0", "do": [{"wait": "cv"}, {"load": "ok", "into": "x"}]},
                  *unlock("m"), DONE],
          setter=[*lock("m"), {"store": "ok", "value": 1}, {"signal": "cv"}, *unlock("m"), DONE]),
        k({"wg": "waitgroup", "m": "mutex", "cv": {"cond": "m"}, "ok": "var"},
          [{"add": "wg", "n": 3}, {"go": "waiter", "count": 2}, {"go": "setter"}, WAIT],
          waiter=[*lock("m"), {"load": "ok", "into": "x"},
                  {"while": "x == 0", "do": [{"wait": "cv"}, {"load": "ok", "into": "x"}]},
                  *unlock("m"), DONE],
          setter=[*lock("m"), {"store": "ok", "value": 1}, {"broadcast": "cv"}, *unlock("m"),
                  DONE])),
    "if around wait": (
        "assertion",
        k({"wg": "waitgroup", "m": "mutex", "cv": {"cond": "m"}, "n": "var"},
          [{"add": "wg", "n": 3}, {"go": "taker", "count": 2}, {"go": "giver"}, WAIT],
          taker=[*lock("m"), {"load": "n", "into": "x"}, {"if": "x == 0", "then": [{"wait": "cv"}]},
                 {"load": "n", "into": "x"}, {"assert": "x > 0", "text": "something to take"},
                 {"store": "n", "value": "x - 1"}, *unlock("m"), DONE],
          giver=[{"loop": 2, "do": [*lock("m"), {"load": "n", "into": "x"},
                                    {"store": "n", "value": "x + 1"}, {"signal": "cv"},
                                    *unlock("m")]}, DONE]),
        k({"wg": "waitgroup", "m": "mutex", "cv": {"cond": "m"}, "n": "var"},
          [{"add": "wg", "n": 3}, {"go": "taker", "count": 2}, {"go": "giver"}, WAIT],
          taker=[*lock("m"), {"load": "n", "into": "x"},
                 {"while": "x == 0", "do": [{"wait": "cv"}, {"load": "n", "into": "x"}]},
                 {"assert": "x > 0", "text": "something to take"},
                 {"store": "n", "value": "x - 1"}, *unlock("m"), DONE],
          giver=[{"loop": 2, "do": [*lock("m"), {"load": "n", "into": "x"},
                                    {"store": "n", "value": "x + 1"}, {"signal": "cv"},
                                    *unlock("m")]}, DONE])),

    # ---- variables ----
    "lost update": (
        "assertion",
        k({**WG, "v": "var"}, [*two("inc", "inc"), {"load": "v", "into": "x", "atomic": True},
                               {"assert": "x == 2", "text": "both counted"}],
          inc=[{"load": "v", "into": "x", "atomic": True},
               {"store": "v", "value": "x + 1", "atomic": True}, DONE]),
        k({**WG, "v": "var"}, [*two("inc", "inc"), {"load": "v", "into": "x", "atomic": True},
                               {"assert": "x == 2", "text": "both counted"}],
          inc=[{"atomic_add": "v"}, DONE])),
    "plain counter": (
        "data race",
        k({**WG, "v": "var"}, two("inc", "inc"),
          inc=[{"load": "v", "into": "x"}, {"store": "v", "value": "x + 1"}, DONE]),
        k({**WG, "v": "var", "m": "mutex"}, two("inc", "inc"),
          inc=[*lock("m"), {"load": "v", "into": "x"}, {"store": "v", "value": "x + 1"},
               *unlock("m"), DONE])),
    "flag without order": (
        "data race",
        k({**WG, "data": "var", "ready": "var"}, two("writer", "reader"),
          writer=[{"store": "data", "value": 1}, {"store": "ready", "value": 1}, DONE],
          reader=[{"load": "ready", "into": "r"},
                  {"if": "r == 1", "then": [{"load": "data", "into": "d"}]}, DONE]),
        k({**WG, "data": "var", "ready": "var"}, two("writer", "reader"),
          writer=[{"store": "data", "value": 1}, {"store": "ready", "value": 1, "atomic": True},
                  DONE],
          reader=[{"load": "ready", "into": "r", "atomic": True},
                  {"if": "r == 1", "then": [{"load": "data", "into": "d"}]}, DONE])),
    "reader outside the lock": (
        "data race",
        k({**WG, "v": "var", "m": "mutex"}, two("writer", "reader"),
          writer=[*lock("m"), {"store": "v", "value": 1}, *unlock("m"), DONE],
          reader=[{"load": "v", "into": "x"}, DONE]),
        k({**WG, "v": "var", "m": "rwmutex"}, two("writer", "reader"),
          writer=[*lock("m"), {"store": "v", "value": 1}, *unlock("m"), DONE],
          reader=[{"rlock": "m"}, {"load": "v", "into": "x"}, {"runlock": "m"}, DONE])),
    "read after done": (
        "data race",
        k({**WG, "v": "var"}, [{"add": "wg"}, {"go": "w"}, WAIT, {"load": "v", "into": "x"}],
          w=[DONE, {"store": "v", "value": 1}]),
        k({**WG, "v": "var"}, [{"add": "wg"}, {"go": "w"}, WAIT, {"load": "v", "into": "x"}],
          w=[{"store": "v", "value": 1}, DONE])),
    "buffered channel as a lock, wrong way round": (
        "data race",
        k({**WG, "v": "var", "c": {"chan": 1}}, two("w", "w"),
          w=[{"load": "v", "into": "x"}, {"store": "v", "value": "x + 1"}, send("c"), recv("c"),
             DONE]),
        k({**WG, "v": "var", "c": {"chan": 1}}, two("w", "w"),
          w=[send("c"), {"load": "v", "into": "x"}, {"store": "v", "value": "x + 1"}, recv("c"),
             DONE])),

    # ---- once, contexts, timers ----
    "once in once": (
        "deadlock",
        k({"o": "once"}, [{"once": "o", "do": "init"}],
          init=[{"once": "o", "do": "other"}], other=[{"gosched": True}]), None),
    "context never cancelled": (
        "leak",
        k({}, [{"context": "ctx"}, {"go": "w", "args": ["ctx.Done"]}, {"sleep": "1ms"}],
          w={"params": ["done"], "do": [{"recv": "done"}]}),
        k({}, [{"context": "ctx"}, {"go": "w", "args": ["ctx.Done"]}, {"sleep": "1ms"},
               {"cancel": "ctx"}],
          w={"params": ["done"], "do": [{"recv": "done"}]})),
    "sender gives up with the context, receiver does not": (
        "deadlock",
        k({"c": "chan"}, [{"context": "ctx"}, {"go": "w", "args": ["ctx.Done"]},
                          {"go": [{"cancel": "ctx"}]}, recv("c")],
          w={"params": ["done"], "do": [{"select": [send("c"), {"recv": "done"}]}]}),
        k({"c": "chan"}, [{"context": "ctx"}, {"go": "w", "args": ["ctx.Done"]},
                          {"go": [{"cancel": "ctx"}]}, {"select": [recv("c"),
                                                                  {"recv": "ctx.Done"}]}],
          w={"params": ["done"], "do": [{"select": [send("c"), {"recv": "done"}]}]})),
    "callback keeps the lock": (
        "deadlock",
        k({**WG, "m": "mutex", "aborted": "var"},
          [*lock("m"), {"after_func": "cb", "after": "1us", "timer": "t"}, *unlock("m"),
           *lock("m"), {"stop": "t", "into": "in_time"},
           {"if": "!in_time", "then": [{"store": "aborted", "value": 1}]}, *unlock("m"),
           {"sleep": "1ms"}, *lock("m"), *unlock("m")],
          cb=[*lock("m"), {"load": "aborted", "into": "a"},
              {"if": "a == 1", "then": [{"return": None}]}, *unlock("m")]),
        k({**WG, "m": "mutex", "aborted": "var"},
          [*lock("m"), {"after_func": "cb", "after": "1us", "timer": "t"}, *unlock("m"),
           *lock("m"), {"stop": "t", "into": "in_time"},
           {"if": "!in_time", "then": [{"store": "aborted", "value": 1}]}, *unlock("m"),
           {"sleep": "1ms"}, *lock("m"), *unlock("m")],
          cb=[*lock("m"), {"load": "aborted", "into": "a"}, *unlock("m")])),
    "sleep as an order": (
        "assertion",
        k({"v": "var"}, [{"go": [{"store": "v", "value": 1, "atomic": True}]}, {"sleep": "1ms"},
                         {"load": "v", "into": "x", "atomic": True},
                         {"assert": "x == 1", "text": "it was set"}]),
        k({"v": "var", "c": "chan"}, [{"go": [{"store": "v", "value": 1, "atomic": True},
                                              {"close": "c"}]}, recv("c"),
                                      {"load": "v", "into": "x", "atomic": True},
                                      {"assert": "x == 1", "text": "it was set"}])),
    "semaphore taken twice": (
        "deadlock",
        k({**WG, "s": {"semaphore": 2}}, two("w", "w"),
          w=[{"acquire": "s"}, {"acquire": "s"}, {"release": "s", "n": 2}, DONE]),
        k({**WG, "s": {"semaphore": 2}}, two("w", "w"),
          w=[{"acquire": "s", "n": 2}, {"release": "s", "n": 2}, DONE])),
    "writer starves behind a reader that waits for it": (
        "deadlock",
        k({**WG, "w": "rwmutex", "c": "chan"}, two("reader", "writer"),
          reader=[{"rlock": "w"}, recv("c"), {"runlock": "w"}, DONE],
          writer=[*lock("w"), send("c"), *unlock("w"), DONE]),
        k({**WG, "w": "rwmutex", "c": "chan"}, two("reader", "writer"),
          reader=[{"rlock": "w"}, {"runlock": "w"}, recv("c"), DONE],
          writer=[*lock("w"), *unlock("w"), send("c"), DONE])),
    "a lock held over a loop that looks": (
        "livelock",
        k({**WG, "m": "mutex", "stop": "var"},
          [{"add": "wg"}, *lock("m"), {"go": "p"}, {"set": "s", "value": 0},
           {"while": "s == 0", "do": [aload("stop", "s")]}, *unlock("m"), WAIT],
          p=[*lock("m"), astore("stop", 1), *unlock("m"), DONE]),
        k({**WG, "m": "mutex", "stop": "var"},
          [{"add": "wg"}, {"go": "p"}, {"set": "s", "value": 0},
           {"while": "s == 0", "do": [*lock("m"), aload("stop", "s"), *unlock("m")]}, WAIT],
          p=[*lock("m"), astore("stop", 1), *unlock("m"), DONE])),
    "select with default looks for what was dropped": (
        "livelock",
        k({**WG, "c": "chan"},
          [{"add": "wg"}, {"go": "p"}, {"select": [{"send": "c"}, {"default": []}]}, WAIT],
          p=[{"set": "n", "value": 0},
             {"while": "n < 1", "do": [{"select": [
                 {"recv": "c", "do": [{"set": "n", "value": "n + 1"}]},
                 {"default": [{"gosched": True}]}]}]}, DONE]),
        k({**WG, "c": {"chan": 1}},
          [{"add": "wg"}, {"go": "p"}, {"select": [{"send": "c"}, {"default": []}]}, WAIT],
          p=[{"set": "n", "value": 0},
             {"while": "n < 1", "do": [{"select": [
                 {"recv": "c", "do": [{"set": "n", "value": "n + 1"}]},
                 {"default": [{"gosched": True}]}]}]}, DONE])),
    "signal before the wait, flag without the lock": (
        "deadlock",
        k({**WG, "m": "mutex", "cv": {"cond": "m"}, "ready": "var"},
          [{"add": "wg"}, {"go": "waiter"}, astore("ready", 1), {"signal": "cv"}, WAIT],
          waiter=[*lock("m"), aload("ready", "r"), {"if": "r == 0", "then": [{"wait": "cv"}]},
                  *unlock("m"), DONE]),
        k({**WG, "m": "mutex", "cv": {"cond": "m"}, "ready": "var"},
          [{"add": "wg"}, {"go": "waiter"}, *lock("m"), astore("ready", 1), {"signal": "cv"},
           *unlock("m"), WAIT],
          waiter=[*lock("m"), aload("ready", "r"), {"if": "r == 0", "then": [{"wait": "cv"}]},
                  *unlock("m"), DONE])),
    "closed twice behind an atomic flag": (
        "panic",
        k({**WG, "c": "chan", "closed": "var"}, two("shut", "shut"),
          shut=[aload("closed", "x"),
                {"if": "x == 0", "then": [astore("closed", 1), {"close": "c"}]}, DONE]),
        k({**WG, "c": "chan", "closed": "var"}, two("shut", "shut"),
          shut=[{"cas": "closed", "old": 0, "new": 1, "into": "won"},
                {"if": "won == 1", "then": [{"close": "c"}]}, DONE])),
    "a slot is not given back on an early return": (
        "deadlock",
        k({**WG, "sem": {"chan": 2}},
          [{"loop": 4, "index": "i", "do": [send("sem"), {"add": "wg"},
                                            {"go": "work", "args": ["i"]}]}, WAIT],
          work={"params": ["i"], "do": [
              {"if": "i % 2 == 0", "then": [DONE, {"return": None}]}, recv("sem"), DONE]}),
        k({**WG, "sem": {"chan": 2}},
          [{"loop": 4, "index": "i", "do": [send("sem"), {"add": "wg"},
                                            {"go": "work", "args": ["i"]}]}, WAIT],
          work={"params": ["i"], "do": [recv("sem"), DONE]})),
    "cancelled while the answer is sent": (
        "leak",
        k({"res": "chan"},
          [{"context": "ctx"}, {"go": "worker", "args": ["ctx"]},
           {"select": [recv("res"), recv("ctx.Done")]}, {"cancel": "ctx"}],
          worker={"params": ["c"], "do": [{"go": "stopper", "args": ["c"]}, send("res")]},
          stopper={"params": ["c"], "do": [{"cancel": "c"}]}),
        k({"res": {"chan": 1}},
          [{"context": "ctx"}, {"go": "worker", "args": ["ctx"]},
           {"select": [recv("res"), recv("ctx.Done")]}, {"cancel": "ctx"}],
          worker={"params": ["c"], "do": [{"go": "stopper", "args": ["c"]}, send("res")]},
          stopper={"params": ["c"], "do": [{"cancel": "c"}]})),
    "the channel of a stopped timer is drained once too often": (
        "deadlock",
        k({"q": "chan"},
          [{"timer": "t", "after": "1ms"}, {"go": "user"},
           {"select": [recv("t.C"), recv("q")]}, {"stop": "t", "into": "in_time"},
           {"if": "in_time == 0", "then": [recv("t.C")]}],
          user=[{"sleep": "1ms"}, {"close": "q"}]),
        k({"q": "chan"},
          [{"timer": "t", "after": "1ms"}, {"go": "user"},
           {"select": [recv("t.C"), recv("q")]}, {"stop": "t", "into": "in_time"},
           {"if": "in_time == 0", "then": [{"select": [recv("t.C"), {"default": []}]}]}],
          user=[{"sleep": "1ms"}, {"close": "q"}])),
    "the first error is taken, the others wait": (
        "leak",
        k({"errs": "chan"}, [{"go": "job", "count": 3}, recv("errs")], job=[send("errs")]),
        k({"errs": {"chan": 3}}, [{"go": "job", "count": 3}, recv("errs")], job=[send("errs")])),
    "a pipeline is left before its end": (
        "leak",
        k({"a": "chan", "b": "chan"},
          [{"go": "gen"}, {"go": "square"}, {"loop": 2, "do": [recv("b")]}],
          gen=[{"loop": 4, "index": "i", "do": [send("a", "i")]}, {"close": "a"}],
          square=[{"range": "a", "into": "v", "do": [send("b", "v * v")]}, {"close": "b"}]),
        k({"a": "chan", "b": "chan"},
          [{"go": "gen"}, {"go": "square"}, {"range": "b", "into": "x", "do": []}],
          gen=[{"loop": 4, "index": "i", "do": [send("a", "i")]}, {"close": "a"}],
          square=[{"range": "a", "into": "v", "do": [send("b", "v * v")]}, {"close": "b"}])),
    "made lazily, looked at without the lock": (
        "data race",
        k({**WG, "m": "mutex", "made": "var", "val": "var"}, two("get", "get"),
          get=[{"load": "made", "into": "i"},
               {"if": "i == 0", "then": [*lock("m"), {"store": "val", "value": 7},
                                         {"store": "made", "value": 1}, *unlock("m")]},
               {"load": "val", "into": "v"}, DONE]),
        k({**WG, "o": "once", "val": "var"}, two("get", "get"),
          get=[{"once": "o", "do": [{"store": "val", "value": 7}]},
               {"load": "val", "into": "v"}, DONE])),
}


def scenario(name, body):
    body = dict(body)
    used = {w for w in body["funcs"]}
    return {"name": name, "why": "a kernel", **{key: v for key, v in body.items()
                                               if key != "funcs" or used}}
