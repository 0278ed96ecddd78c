#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loops that go round for ever are called livelocks within ten schedules of a search without
options, and the same programs where something ends the loop are not."""
import sys
import tempfile

from kernels import WG, DONE, WAIT, aload, astore, k, lock, recv, send, two, unlock
from rounds import BREAK, YIELD, explore, forever, is_met_again, is_small, when

GMPSIM = sys.argv[1]
SOON = 10  # schedules
LOCKS = {**WG, "a": "mutex", "b": "mutex"}
FLAGS = {**WG, "x": "var", "y": "var"}


def retry(first, second, *back_off):
    """Takes one lock, tries the other, gives way if it cannot have it."""
    return [forever(*lock(first), {"trylock": second, "into": "ok"}, when("ok == 1", BREAK),
                    *unlock(first), *back_off), *unlock(second, first), DONE]


def draws(*each):
    return {"random": [{"do": list(e)} for e in each]}


def philosophers(swap):
    """Three at a table; swap: the last one begins with the other fork."""
    last = when("i == 2 && %d == 1" % swap, {"set": "first", "value": "(i + 1) % 3"},
                {"set": "second", "value": "i"})
    return k({**WG, "f": {"array": 3, "of": "mutex"}},
             [{"add": "wg", "n": 3},
              {"go": "eats", "count": 3, "index": "i", "args": ["i"]}, WAIT],
             eats={"params": ["i"], "do": [
                 {"set": "first", "value": "i"}, {"set": "second", "value": "(i + 1) % 3"}, last,
                 forever(*lock("f[first]"), {"trylock": "f[second]", "into": "ok"},
                         when("ok == 1", BREAK), *unlock("f[first]"), YIELD),
                 *unlock("f[second]", "f[first]"), DONE]})


def after_you(me, other):
    return [forever(astore(me, 1), aload(other, "theirs"), when("theirs == 0", BREAK),
                    astore(me, 0), YIELD), astore(me, 0), DONE]


def peterson(me, other, turn, mine):
    return [astore(me, 1), astore("turn", turn),
            forever(aload(other, "theirs"), aload("turn", "whose"),
                    when("theirs == 0 || whose == %d" % mine, BREAK), YIELD),
            astore(me, 0), DONE]


def add_one():
    return [forever(aload("v", "n"), {"cas": "v", "old": "n", "new": "n + 1", "into": "won"},
                    when("won == 1", BREAK), YIELD), DONE]


def polls(pause, *partner):
    return k({**WG, "v": "var"},
             [{"add": "wg"}, {"go": "sets"},
              forever(aload("v", "n"), when("n == 2", BREAK), pause), WAIT],
             sets=[*partner, DONE])


def drains(*end):
    return k({**WG, "c": "chan", "quit": "chan"},
             [{"add": "wg"}, {"go": "drains"}, {"close": "c"}, WAIT],
             drains=[{"set": "end", "value": 0},
                     forever({"select": [{"recv": "c", "into": "v", "ok": "open",
                                          "do": [{"set": "got", "value": 1}, *end]},
                                         {"recv": "quit", "do": [BREAK]}]},
                             when("end == 1", BREAK)), DONE])


def passes_on(value, room):
    """A token between two, who stop at the ninth."""
    def side(mine, theirs):
        return [forever(recv(mine, into="n"), when("n >= 9", BREAK), send(theirs, value),
                        when(value + " >= 9", BREAK)), DONE]
    return k({**WG, "c": {"chan": room}, "d": {"chan": room}},
             [{"add": "wg", "n": 2}, {"go": "left"}, {"go": "right"}, send("c", 1), WAIT],
             left=side("c", "d"), right=side("d", "c"))


PROGRAMS = {
    "both give way at once": (
        k(LOCKS, two("one", "other"), one=retry("a", "b"), other=retry("b", "a")),
        k(LOCKS, two("one", "other"), one=retry("a", "b"), other=retry("a", "b"))),
    "and yield": (
        k(LOCKS, two("one", "other"), one=retry("a", "b", YIELD), other=retry("b", "a", YIELD)),
        k(LOCKS, two("one", "other"), one=retry("a", "b", draws([YIELD], [YIELD, YIELD, YIELD])),
          other=retry("b", "a", draws([YIELD], [YIELD, YIELD, YIELD])))),
    "and sleep as long": (
        k(LOCKS, two("one", "other"), one=retry("a", "b", {"sleep": "1ms"}),
          other=retry("b", "a", {"sleep": "1ms"})),
        k(LOCKS, two("one", "other"), one=retry("a", "b", {"sleep": {"uniform": ["1ms", "5ms"]}}),
          other=retry("b", "a", {"sleep": {"uniform": ["1ms", "5ms"]}}))),
    "three philosophers who put their fork down": (philosophers(0), philosophers(1)),
    "after you": (
        k(FLAGS, two("one", "other"), one=after_you("x", "y"), other=after_you("y", "x")),
        k({**FLAGS, "turn": "var"}, two("one", "other"),
          one=peterson("x", "y", 2, 1), other=peterson("y", "x", 1, 2))),
    "a poll with pauses": (polls({"sleep": "10ms"}, astore("v", 1)),
                           polls({"sleep": "10ms"}, {"sleep": "200ms"}, astore("v", 2))),
    "a poll without": (polls(YIELD, astore("v", 1)), polls(YIELD, astore("v", 2))),
    "a closed channel in a select": (
        drains(), drains(when("open == 0", {"set": "end", "value": 1}))),
    "a token that nobody counts": (passes_on("n", 1), passes_on("n + 1", 1)),
    "one does, one undoes": (
        k({**WG, "v": "var"}, two("does", "undoes"),
          does=[forever({"cas": "v", "old": 0, "new": 1, "into": "w"}, YIELD, aload("v", "n"),
                        when("n == 2", BREAK), {"cas": "v", "old": 1, "new": 0, "into": "w"}),
                DONE],
          undoes=[forever({"cas": "v", "old": 1, "new": 0, "into": "w"}, YIELD, aload("v", "n"),
                          when("n == 2", BREAK)), DONE]),
        k({**WG, "v": "var"}, two("adds", "adds"), adds=add_one())),
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, (broken, right) in PROGRAMS.items():
            found, path = explore(GMPSIM, folder, name, broken)
            assert found["found"] and found["finding"]["verdict"] == "livelock", (name, found)
            assert found["schedules_to_first"] <= SOON, (name, found["schedules_to_first"])
            is_small(name, found)
            is_met_again(GMPSIM, path, "livelock")
            clean, _ = explore(GMPSIM, folder, name, right, "--runs", "300")
            assert not clean["found"], (name, clean)
            fair, _ = explore(GMPSIM, folder, name, right, "--strategy", "fair", "--runs", "100")
            assert not fair["found"] and fair["cut"] == 0, (name, fair)
            print("%-45s schedule %d" % (name, found["schedules_to_first"]))


main()
