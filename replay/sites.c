/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of a trace become places: what the goroutine was in (by the innermost frames, which are
 * the runtime's or package sync's) and where in the program. */
#include "replay/sites.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

/* The innermost frame that has one of these names decides; the first match in this order of frames,
 * then of lines. */
static const struct {
    const char *func;
    enum rec_leaf leaf;
} leaves[] = {
    {"sync.(*Mutex).Lock", LEAF_MUTEX},
    {"sync.(*Mutex).lockSlow", LEAF_MUTEX},
    {"sync.(*Mutex).Unlock", LEAF_MUTEX},
    {"sync.(*Mutex).unlockSlow", LEAF_MUTEX},
    {"internal/sync.(*Mutex).Lock", LEAF_MUTEX},
    {"internal/sync.(*Mutex).lockSlow", LEAF_MUTEX},
    {"internal/sync.(*Mutex).unlockSlow", LEAF_MUTEX},
    {"sync.(*RWMutex).RLock", LEAF_RLOCK},
    {"sync.(*RWMutex).RUnlock", LEAF_RLOCK},
    {"sync.(*RWMutex).rUnlockSlow", LEAF_RLOCK},
    {"sync.(*RWMutex).Lock", LEAF_RWLOCK},
    {"sync.(*RWMutex).Unlock", LEAF_RWLOCK},
    {"sync.(*WaitGroup).Wait", LEAF_WAITGROUP},
    {"sync.(*WaitGroup).Add", LEAF_WAITGROUP},
    {"sync.(*WaitGroup).Done", LEAF_WAITGROUP},
    {"sync.(*Cond).Wait", LEAF_COND},
    {"sync.(*Cond).Signal", LEAF_COND},
    {"sync.(*Cond).Broadcast", LEAF_COND},
    {"runtime.chansend", LEAF_CHANSEND},
    {"runtime.chansend1", LEAF_CHANSEND},
    {"runtime.chanrecv", LEAF_CHANRECV},
    {"runtime.chanrecv1", LEAF_CHANRECV},
    {"runtime.chanrecv2", LEAF_CHANRECV},
    {"runtime.closechan", LEAF_CLOSE},
    {"runtime.selectgo", LEAF_SELECT},
    {"time.Sleep", LEAF_SLEEP},
    {"internal/poll.(*FD).Accept", LEAF_ACCEPT},
    {"internal/poll.(*FD).Read", LEAF_READ},
    {"internal/poll.(*FD).ReadFrom", LEAF_READ},
    {"internal/poll.(*FD).ReadMsg", LEAF_READ},
    {"internal/poll.(*FD).Write", LEAF_WRITE},
    {"internal/poll.(*FD).WriteTo", LEAF_WRITE},
    {"internal/poll.(*FD).WriteMsg", LEAF_WRITE},
    {"internal/poll.(*FD).Writev", LEAF_WRITE},
    {"net.(*netFD).connect", LEAF_WRITE},
    {"internal/poll.(*FD).Close", LEAF_WRITE},
    {"internal/poll.(*FD).decref", LEAF_WRITE},
    {"syscall.wait4", LEAF_OFFCPU},
    {"syscall.Wait4", LEAF_OFFCPU},
    {"syscall.Nanosleep", LEAF_OFFCPU},
    {"syscall.Flock", LEAF_OFFCPU},
    {"syscall.EpollWait", LEAF_OFFCPU},
    {"syscall.Select", LEAF_OFFCPU},
    {"os.(*Process).blockUntilWaitable", LEAF_OFFCPU},
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool sites_is_inner(const char *func)
{
    return begins(func, "runtime.") || begins(func, "sync.") || begins(func, "internal/") ||
           begins(func, "syscall.") || begins(func, "runtime/") || begins(func, "time.Sleep");
}

static enum rec_leaf leaf_of(const char *func)
{
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        if (strcmp(func, leaves[i].func) == 0)
            return leaves[i].leaf;
    return LEAF_OTHER;
}

const char *sites_string(struct sites *s, uint32_t string)
{
    X_REACH(s->texts, s->texts_room, string, string * 2 + 256);
    if (s->texts[string] == NULL)
        s->texts[string] = pool_text(s->r->pool, trace_string(s->t, string, NULL));
    return s->texts[string];
}

/* Does leaf a of a frame further out decide over b of one within? An RWMutex holds a Mutex; what
 * may make a descriptor ready does so also where the call itself waits in the kernel. */
static bool outranks(enum rec_leaf a, enum rec_leaf b)
{
    return b == LEAF_OTHER || ((a == LEAF_RWLOCK || a == LEAF_RLOCK) && b == LEAF_MUTEX) ||
           (a == LEAF_WRITE && b == LEAF_OFFCPU);
}

/* Calls that only pass on to a descriptor. */
static bool passes_on(const char *func)
{
    return begins(func, "net.") || begins(func, "os.") || begins(func, "io.") ||
           begins(func, "bufio.");
}

/* Functions of the runtime's that do what others ask for. */
static bool serves(const char *func)
{
    static const char *const names[] = {"gmpsim",   "makechan", "chansend", "chanrecv", "closechan",
                                        "selectgo", "selectnb", "reflect_", "block",    NULL};
    const char *name = func + strlen("runtime.");
    for (int i = 0; names[i] != NULL; i++)
        if (begins(name, names[i]))
            return true;
    return false;
}

/* What an overlay added to start and stop the trace (cli/overlay.c): no place of the program. */
static bool is_recorder(const char *file) { return strstr(file, "gmpsim_record.go") != NULL; }

static struct rec_site site_make(struct sites *s, struct trace_stack st)
{
    struct rec_site out = {.func = "", .file = "", .told = {"", "", 0}};
    bool told = false, within = true;
    for (uint32_t i = 0; i < st.count; i++) {
        struct trace_frame f = trace_frame_of(s->t, st.frames[i]);
        const char *func = sites_string(s, f.func);
        enum rec_leaf leaf = leaf_of(func);
        within = within && begins(func, "runtime.");
        out.runtimes |= within && !serves(func);
        if (leaf != LEAF_OTHER && outranks(leaf, out.leaf))
            out.leaf = leaf;
        bool last = i + 1 == st.count;
        const struct rec_place here = {func, sites_string(s, f.file), f.line};
        if (is_recorder(here.file))
            return (struct rec_site){.func = func, .file = here.file, .line = f.line, .told = here};
        if (out.func[0] == 0 && (!sites_is_inner(func) || last)) {
            out.func = here.func;
            out.file = here.file;
            out.line = here.line;
            out.told = here;
        }
        if (!told && !sites_is_inner(func) && !passes_on(func)) {
            out.told = here;
            told = true;
        }
    }
    out.runtimes |= within && st.count > 0;
    return out;
}

uint32_t sites_of(struct sites *s, uint32_t stack)
{
    struct recording *r = s->r;
    X_REACH(s->of_stack, s->stacks_room, stack, stack * 2 + 256);
    if (s->of_stack[stack] == 0) {
        X_ROOM(r->sites, r->nsites, r->sites_room, 64);
        r->sites[r->nsites] = site_make(s, trace_stack_of(s->t, stack));
        s->of_stack[stack] = ++r->nsites;
    }
    return s->of_stack[stack] - 1;
}

/* The outermost frame; of the main goroutine the one within. */
const char *sites_function(struct sites *s, uint32_t stack)
{
    struct trace_stack st = trace_stack_of(s->t, stack);
    if (st.count == 0)
        return NULL;
    const char *func = sites_string(s, trace_frame_of(s->t, st.frames[st.count - 1]).func);
    if (st.count > 1 && strcmp(func, "runtime.main") == 0)
        func = sites_string(s, trace_frame_of(s->t, st.frames[st.count - 2]).func);
    return func;
}

void sites_release(struct sites *s)
{
    free(s->texts);
    free(s->of_stack);
}
