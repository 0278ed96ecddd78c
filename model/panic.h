/* SPDX-License-Identifier: BSD-3-Clause */
/* defer, panic, recover, Goexit, and the runtime's fatal errors. */
#ifndef MODEL_PANIC_H
#define MODEL_PANIC_H
#include "objs.h"

/* Whose mistake it is: the program's, or one that the runtime cannot go on from. */
enum throw_type { THROW_USER, THROW_RUNTIME };

/* The texts of the runtime's own panics. */
enum panic_text {
#define PANIC_TEXT(name, text) PANIC_##name,
#include "panics.def"
#undef PANIC_TEXT
    PANIC_TEXTS
};

/* The text of a crash while it is put together. */
enum { CRASH_MAX = 1 << 16 };
struct crash {
    char *text; /* CRASH_MAX bytes; what does not fit is cut */
    uint32_t n;
};

static enum opres op_defer(struct g *gp, const struct insn *in);
static void crash_int(struct crash *c, int64_t v);
static struct crash crash_begin(const char *s1, const char *s2);
static const char *crash_end(struct crash *c);
static void fatalthrow(struct g *gp, enum throw_type type, const char *text);
/* What Go prints when nobody can run: `fatal error: text` and every waiting goroutine with its
 * reason. */
static const char *deadlock_text(const char *text);
static const char *string_of(int64_t id);
static void panic_pop(struct g *gp);
static enum opres gopanic(struct g *gp, enum panic_kind kind, int64_t value);
static enum opres gopanic_text(struct g *gp, enum panic_text t);
static enum opres op_panic(struct g *gp, const struct insn *in);
static enum opres op_recover(struct g *gp, const struct insn *in);
static enum opres op_goexit(struct g *gp, const struct insn *in);
static enum opres op_ret(struct g *gp, const struct insn *in);
static enum opres op_once(struct g *gp, const struct insn *in);
#endif
