# SPDX-License-Identifier: BSD-3-Clause
"""Random scenarios whose order of output is determined in real Go at GOMAXPROCS=1.

A program may deadlock, panic or leak: that is compared too. Left out is what real Go
decides by the speed of the machine, or what gen-go only imitates:
- gc, unless asked for: which of those that can run do so before the collection is over depends on
  how long marking takes, and so does whether a fractional worker (a quarter of one P) has had its
  share. Who waits meanwhile, and what comes afterwards, does not: most such programs are stable,
  and of the others differ.py compares what real Go prints often;
- system calls: whether one lasts until the P is retaken;
- after: gen-go's channel of values is filled by a goroutine; a timer's own channel is not.
Instants of one program are sums of different powers of two of 6 ms, never close together.
"""
import random


class Gen:
    def __init__(self, seed, release, prefix="a", gc=False):
        self.r = random.Random(seed)
        self.seed, self.release, self.px = seed, release, prefix
        self.site = self.sleeps = self.names = 0
        self.funcs, self.todo, self.objects, self.scopes = {}, [], {}, [[]]
        self.threads = self.blocks = 0
        self.big, self.gc, self.collects = False, gc, False

    def ob(self, name):
        return self.px + name

    def fresh(self, stem="x"):
        self.names += 1
        name = "%s%d" % (stem, self.names)
        return name

    def define(self, stem="x"):
        name = self.fresh(stem)
        self.scopes[-1].append(name)
        return name

    def visible(self):
        return [n for s in self.scopes for n in s]

    def value(self):
        r = self.r
        names = self.visible()
        if names and r.random() < 0.6:
            n = r.choice(names)
            return r.choice([n, "%s + %d" % (n, r.randint(1, 9)),
                             "%s * 10 + %d" % (n, r.randint(0, 9))])
        return r.randint(0, 99)

    def cond(self):
        r = self.r
        k = r.random()
        if k < 0.3:
            return "len(%s) > 0" % self.chan()
        if self.visible():
            return "%s %% 2 == %d" % (r.choice(self.visible()), r.randint(0, 1))
        return "numgoroutine() > %d" % r.randint(1, 5)

    def chan(self):
        return self.r.choice(self.chans)

    def sleep(self):
        """Sums of these are all different."""
        self.sleeps += 1
        return "%dms" % (6 << (self.sleeps - 1))

    def can_sleep(self):
        return self.sleeps < 5

    def print(self, *args):
        self.site += 1
        args = list(args)
        if self.visible() and self.r.random() < .5:
            args.append(self.r.choice(self.visible()))
        if self.r.random() < 0.06:
            args.append("numgoroutine()")
        if self.r.random() < 0.06:
            args.append("len(%s)" % self.chan())
        return {"print": "p%d%s" % (self.site, " %d" * len(args)), "args": args}

    # ---- blocks ----

    def block(self, depth, n=None, names=()):
        self.scopes.append(list(names))
        n = n or self.r.choice([1, 1, 2, 2, 3, 4])
        out = []
        for _ in range(n):
            out += self.statement(depth)
            if self.r.random() < 0.5:
                out.append(self.print())
        self.scopes.pop()
        return out

    def statement(self, depth):
        kinds = self.leafs if depth <= 0 else self.leafs + self.nests
        while True:
            f = self.r.choices([k[1] for k in kinds], [k[0] for k in kinds])[0]
            s = f(self, depth - 1)
            if s:
                return s

    # ---- leafs ----

    def s_gosched(self, d):
        return [{"gosched": True}]

    def s_send(self, d):
        return [{"send": self.chan(), "value": self.value()}]

    def s_recv(self, d):
        c = self.chan()
        if self.r.random() < 0.4:
            x, ok = self.define(), self.define("ok")
            return [{"recv": c, "into": x, "ok": ok}, self.print(x, ok)]
        x = self.define()
        return [{"recv": c, "into": x}, self.print(x)]

    def s_close(self, d):
        return [{"close": self.chan()}]

    def s_lock1(self, d):
        return [{self.r.choice(["lock", "lock", "unlock"]): self.r.choice([self.mu, self.rw])}]

    def s_rlock1(self, d):
        return [{self.r.choice(["rlock", "runlock"]): self.rw}]

    def s_try(self, d):
        x = self.define()
        o = self.r.choice([self.mu, self.rw, "r"])
        if o == "r":
            return [{"tryrlock": self.rw, "into": x}, self.print(x),
                    {"if": x, "then": [{"gosched": True}, {"runlock": self.rw}]}]
        return [{"trylock": o, "into": x}, self.print(x),
                {"if": x, "then": [{"gosched": True}, {"unlock": o}]}]

    def s_wg(self, d):
        return [self.r.choice([{"add": self.wg, "n": self.r.randint(1, 3)},
                               {"done": self.wg}, {"wait": self.wg}])]

    def s_sem(self, d):
        n = self.r.randint(1, 2)
        k = self.r.random()
        if k < 0.2:
            x = self.define()
            return [{"tryacquire": self.sem, "n": n, "into": x}, self.print(x),
                    {"if": x, "then": [{"release": self.sem, "n": n}]}]
        return [{"acquire": self.sem, "n": n}, self.print(), {"gosched": True},
                {"release": self.sem, "n": n}]

    def s_cond(self, d):
        k = self.r.random()
        c = self.cd
        if k < 0.5:
            return [{"lock": self.cmu}, {"wait": c}, self.print(), {"unlock": self.cmu}]
        return [{self.r.choice(["signal", "broadcast"]): c}]

    def s_once(self, d):
        return [{"once": self.on, "do": self.r.choice(self.oncebodies)}, self.print()]

    def s_var(self, d):
        x, v = self.define(), self.va
        return [self.r.choice([{"load": v, "into": x}, {"atomic_add": v, "value": 3, "into": x},
                               {"swap": v, "value": 7, "into": x},
                               {"cas": v, "old": 3, "new": 4, "into": x}]), self.print(x)]

    def s_sleep(self, d):
        if self.can_sleep():
            return [{"sleep": self.sleep()}, self.print()]

    def s_gc(self, d):
        """Not beside hundreds that can run: some of them do before it is over."""
        if self.big:
            return None
        self.collects = True
        return [self.print(), {"gc": True}, self.print()]

    def s_procs(self, d):
        x = self.define()
        return [{"gomaxprocs": self.r.choice([0, 1]), "into": x}, self.print(x)]

    def s_goexit(self, d):
        return [{"if": self.cond(), "then": [{"goexit": True}]}]

    def s_panic(self, d):
        return [{"if": self.cond(), "then": [{"panic": self.r.choice(["boom", "x y", 7])}]}]

    def s_return(self, d):
        return [{"if": self.cond(), "then": [{"return": None}]}]

    def s_thread(self, d):
        if self.threads < 3:
            self.threads += 1
            return [{self.r.choice(["lock_os_thread", "lock_os_thread", "unlock_os_thread"]): True}]

    def s_timer(self, d):
        if not self.can_sleep():
            return None
        k = self.r.random()
        if k < 0.35:
            t, x = self.fresh("t"), self.fresh()
            out = [{"timer": t, "after": self.sleep()}]
            m = self.r.random()
            if m < 0.4:
                out.append({"recv": t + ".C"})
            elif m < 0.8:
                if self.r.random() < .5 and self.can_sleep():
                    out.append({"sleep": self.sleep()})
                self.scopes[-1].append(x)
                out += [{"stop": t, "into": x}, self.print(x)]
            else:
                self.scopes[-1].append(x)
                out += [{"reset": t, "after": self.sleep(), "into": x}, self.print(x),
                        {"recv": t + ".C"}]
            return out + [self.print()]
        if k < 0.7:
            t = self.fresh("k")
            return [{"ticker": t, "every": self.sleep()},
                    {"loop": self.r.randint(1, 2), "do": [{"recv": t + ".C"}, self.print()]},
                    {"stop": t}]
        return self.timeout()

    def timeout(self):
        t = self.fresh("t")
        v = self.fresh("v")
        case = ({"recv": self.chan(), "into": v, "do": [self.said("got %d", v)]}
                if self.r.random() < .6
                else {"send": self.chan(), "value": 5, "do": [self.print()]})
        return [{"timer": t, "after": self.sleep()},
                {"select": [case, {"recv": t + ".C", "do": [self.print()]}]}]

    def said(self, text, *args):
        self.site += 1
        return {"print": "p%d %s" % (self.site, text), "args": list(args)}

    # ---- statements with blocks ----

    def s_go(self, d):
        k = self.r.random()
        if self.blocks > 14:
            return None
        self.blocks += 1
        if k < 0.5:
            f = self.function()
            if not f:
                return None
            n = self.r.choice([1, 1, 2, 3, 4])
            if n == 1:
                return [{"go": f, "args": [self.value()]}]
            return [{"go": f, "count": n, "index": "i", "args": ["i + %d" % self.r.randint(0, 50)]}]
        names = self.visible()
        self.scopes, old = [names], self.scopes
        body = self.block(d)
        self.scopes = old
        if self.r.random() < .3:
            body.insert(0, {"defer": [self.print()]})
        return [{"go": body}]

    def function(self):
        if len(self.funcs) >= 6:
            return None
        name = self.fresh(self.px + "f")
        self.funcs[name] = {"params": ["id"], "do": []}
        old, self.scopes = self.scopes, [["id"]]
        body = [self.print("id")] + self.block(2, self.r.randint(2, 5))
        if self.r.random() < .25:
            body.insert(0, {"defer": [self.print("id")]})
        if self.r.random() < .25:
            body.insert(0, self.recovering())
        self.scopes = old
        self.funcs[name]["do"] = body
        return name

    def s_call(self, d):
        f = self.function()
        if f:
            return [{"call": f, "args": [self.value()]}]

    def s_if(self, d):
        return [{"if": self.cond(), "then": self.block(d), "else": self.block(d)}]

    def s_loop(self, d):
        i = self.fresh("i")
        return [{"loop": self.r.randint(2, 4), "index": i, "do": self.block(min(d, 1), names=[i])}]

    def s_lock(self, d):
        m = self.r.choice([self.mu, self.mu, self.rw])
        if self.r.random() < .5:
            return [{"with_lock": m, "do": self.block(d)}]
        return [{"lock": m}] + self.block(d) + [{"unlock": m}]

    def s_rlock(self, d):
        return [{"rlock": self.rw}] + self.block(d) + [{"runlock": self.rw}]

    def s_condloop(self, d):
        x = self.fresh()
        return [{"lock": self.cmu}, {"load": self.va, "into": x},
                {"while": x + " < %d" % self.r.randint(1, 6), "do": [
                    {"wait": self.cd}, {"load": self.va, "into": x}, self.print()]},
                {"unlock": self.cmu}]

    def s_select(self, d):
        v = self.fresh("v")
        c = self.chan()
        case = ({"recv": c, "into": v, "do": [self.said("got %d", v)] + self.block(min(d, 0), 1)}
                if self.r.random() < .6
                else {"send": c, "value": self.value(), "do": self.block(min(d, 0), 1)})
        k = self.r.random()
        if k < 0.65:
            return [{"select": [case, {"default": self.block(min(d, 0), 1)}]}]
        other = [{"recv": x, "do": [self.print()]} for x in self.chans if x != c]
        return [{"select": [case, self.r.choice(other)]}]

    def s_range(self, d):
        v = self.fresh("v")
        return [{"range": self.chan(), "into": v,
                 "do": [self.said("rng %d", v)] + self.block(min(d, 0), 1)}]

    def s_fan(self, d):
        n = self.r.choice([2, 3, 3, 4, 5])
        wg = self.fresh("w")
        names = self.visible()
        self.scopes, old = [names + ["i"]], self.scopes
        body = [{"defer": [{"done": wg}]}] + self.block(d)
        self.scopes = old
        return [{"make": wg, "as": "waitgroup"}, {"add": wg, "n": n},
                {"go": body, "count": n, "index": "i"},
                {"wait": wg}, self.print()]

    def s_errgroup(self, d):
        n = self.r.choice([2, 3, 4])
        wg, o, ctx, e = self.fresh("w"), self.fresh("o"), self.fresh("q"), self.fresh("e")
        bad = self.r.randint(0, n - 1)
        first = [self.said("first %d", "i"), {"cancel": ctx}]
        others = [{"recv": ctx + ".Done"}, self.said("done %d %d", "i", ctx + ".Err")]
        member = ([{"defer": [{"done": wg}]}] + [{"gosched": True}] * self.r.randint(0, 2) +
                  [{"if": "i == %d" % bad, "then": [{"once": o, "do": first}], "else": others}])
        return [{"make": wg, "as": "waitgroup"}, {"make": o, "as": "once"}, {"context": ctx},
                {"loop": n, "index": "i", "do": [{"add": wg}, {"go": member}]},
                {"wait": wg}, self.print()]

    def s_context(self, d):
        a, b = self.fresh("q"), self.fresh("q")
        out = [{"context": a}]
        if self.can_sleep() and self.r.random() < .4:
            out[0]["timeout"] = self.sleep()
        if self.r.random() < .6:
            out.append({"context": b, "parent": a})
        else:
            b = a
        out.append({"go": [{"recv": b + ".Done"}, self.said("%d", b + ".Err")],
                    "count": self.r.randint(1, 3)})
        out += self.block(min(d, 0), 1)
        if self.r.random() < .7:
            out.append({"cancel": self.r.choice([a, b])})
        out += [self.said("%d", a + ".Err")]
        return out

    def s_afterfunc(self, d):
        if not self.can_sleep():
            return None
        t = self.fresh("t")
        names = self.visible()
        self.scopes, old = [names], self.scopes
        f = self.fresh(self.px + "a")
        self.scopes = [[]]
        self.funcs[f] = [self.print()] + self.block(min(d, 1))
        self.scopes = old
        out = [{"after_func": f, "after": self.sleep(), "timer": t}]
        if self.r.random() < .4:
            out.append(self.print())
            x = self.define()
            out += [{"stop": t, "into": x}, self.print(x)]
        return out

    def recovering(self):
        k, w = self.fresh("k"), self.fresh("w")
        return {"defer": [{"recover": k, "value": w}, self.said("rec %d", k),
                          {"if": k + " == 1", "then": [{"print": "why %s", "args": [w]}]}]}

    def s_protected(self, d):
        return [{"call": [self.recovering()] + self.block(d)}]

    def s_defer(self, d):
        return [{"defer": self.block(min(d, 1))}]

    def s_pull(self, d):
        if self.release < 23:
            return None
        f = self.fresh(self.px + "g")
        it, y, ok = self.fresh("it"), self.fresh("y"), self.fresh("ok")
        old, self.scopes = self.scopes, [[]]
        m = self.fresh("m")
        b = self.block(min(d, 0), 1)
        self.funcs[f] = [{"loop": self.r.randint(1, 3), "index": "i", "do": [
            {"yield": "i * i", "into": m}, self.said("%d", m),
            {"if": m + " == 0", "then": [{"return": None}]}] + b}]
        self.scopes = old
        out = [{"pull": it, "from": f},
               {"loop": self.r.randint(1, 4), "do": [{"next": it, "into": y, "ok": ok},
                                                     self.said("%d %d", y, ok)] +
                ([{"gosched": True}] if self.r.random() < .4 else [])}]
        if self.r.random() < .7:
            out.append({"stop_pull": it})
        return out

    def s_many(self, d):
        """More goroutines than the ring holds."""
        if self.big or self.collects:
            return None
        self.big = True
        n = self.r.choice([70, 130, 255, 256, 257, 258, 300, 400])
        body = self.r.choice([
            [], [{"gosched": True}], [{"recv": self.chans[0]}],
            [{"with_lock": self.mu, "do": [{"gosched": True}]}],
            [{"gosched": True}, {"go": [{"print": "c %d", "args": ["i"]}]}]])
        first, last = {"print": "m %d", "args": ["i"]}, {"print": "M %d", "args": ["i"]}
        return [{"go": [first] + body + [last], "count": n, "index": "i"},
                self.print(), {"gosched": True}, self.print(),
                {"loop": self.r.randint(1, 70), "index": self.fresh(), "do": [{"gosched": True}]},
                self.print()]

    def make(self):
        r = self.r
        ob = self.ob
        self.chans = [ob("c%d" % i) for i in range(r.randint(2, 4))]
        for c in self.chans:
            n = r.choice([0, 0, 0, 1, 2, 5])
            self.objects[c] = {"chan": n} if n else "chan"
        self.mu, self.rw, self.wg = ob("mu"), ob("rw"), ob("wg")
        self.cmu, self.cd = ob("cm"), ob("cd")
        self.sem, self.on, self.va = ob("se"), ob("on"), ob("va")
        self.objects.update({self.mu: "mutex", self.rw: "rwmutex", self.wg: "waitgroup",
                             self.cmu: "mutex", self.cd: {"cond": self.cmu},
                             self.sem: {"semaphore": 2}, self.on: "once", self.va: {"var": 0}})
        self.oncebodies = [[{"print": "once", "args": []}],
                           [{"gosched": True}, {"print": "once2", "args": []}]]

        def w(lo, hi):
            return r.choice([0, lo, hi, hi])

        S = Gen
        # Swarm: each program has its own mixture.
        self.leafs = [
            (5, S.s_gosched), (5, S.s_send), (5, S.s_recv), (w(.1, .4), S.s_close),
            (w(.0, .3), S.s_lock1), (w(.0, .2), S.s_rlock1), (w(.5, 2), S.s_try),
            (w(.2, 1), S.s_wg), (w(.5, 2), S.s_sem), (w(.5, 2), S.s_cond), (w(.5, 1), S.s_once),
            (w(1, 2), S.s_var), (w(.7, 1.5), S.s_sleep), (.2, S.s_procs),
            (w(.2, .6), S.s_goexit), (w(.1, .4), S.s_panic), (w(.1, .3), S.s_return),
            (w(0, .5), S.s_thread), (w(.5, 1.2), S.s_timer)]
        if self.gc:
            self.leafs.append((4, S.s_gc))
        self.nests = [
            (7, S.s_go), (w(.5, 1), S.s_call), (1, S.s_if), (1.5, S.s_loop), (w(1, 3), S.s_lock),
            (w(1, 3), S.s_rlock), (w(.5, 1), S.s_condloop), (w(2, 4), S.s_select),
            (w(.3, .8), S.s_range), (w(1, 3), S.s_fan), (w(.5, 1), S.s_errgroup),
            (w(.5, 1.5), S.s_context), (w(.5, 1), S.s_afterfunc), (w(.7, 1.5), S.s_protected),
            (w(.5, 1), S.s_defer), (w(.5, 1), S.s_pull), (w(0, .3), S.s_many)]
        main = self.block(3, r.randint(3, 8))
        k = r.random()
        if k < .4:
            main += [{"loop": r.randint(2, 12), "do": [{"gosched": True}]}, self.print()]
        if r.random() < .6:
            save = []
            for c in r.sample(self.chans, len(self.chans)):
                x = self.fresh()
                save.append({"select": [{"recv": c, "into": x, "do": [self.said("saved %d", x)]},
                                        {"default": [self.print()]}]})
                if r.random() < .6:
                    save.append({"select": [{"send": c, "value": 77, "do": [self.print()]},
                                            {"default": [self.print()]}]})
            if r.random() < .5:
                save += [{"atomic_add": self.va}, {r.choice(["signal", "broadcast"]): self.cd}]
            if self.can_sleep():
                save.append({"sleep": self.sleep()})
            save.append({"gosched": True})
            main += [{"loop": r.randint(4, 10), "do": save}, self.print("numgoroutine()")]
        if k < .3:
            main += [{"sleep": "400ms"}, self.print("numgoroutine()")]
        elif k > .8:
            main += [{"wait": self.wg}, self.print()]
        return {"name": "seed %d" % self.seed, "why": "A random program.", "procs": 1,
                "objects": self.objects, "funcs": self.funcs, "main": main}


def scenario(seed, release, prefix="a", gc=False):
    return Gen(seed, release, prefix, gc).make()
