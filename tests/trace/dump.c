/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: trace_dump [--lenient] FILE
 *
 * Every event of a trace as Go's reader prints it (Event.String of internal/trace), then "error" if
 * the reader refuses the rest, with the reason on standard error. What tests compare with Go. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/trace.h"

static const struct trace *t;

/* %q, as far as traces need it. */
static void quoted(uint32_t string)
{
    size_t size;
    const char *s = trace_string(t, string, &size);
    putchar('"');
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c == '\n' || c == '\t')
            printf("\\%c", c == '\n' ? 'n' : 't');
        else if (c < 0x20 || c >= 0x7f)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void stack_lines(const char *title, uint32_t stack)
{
    struct trace_stack s = trace_stack_of(t, stack);
    printf("\n%s=\n", title);
    for (uint32_t i = 0; i < s.count; i++) {
        struct trace_frame f = trace_frame_of(t, s.frames[i]);
        printf("\t%s @ 0x%" PRIx64 "\n\t\t%s:%" PRIu64 "\n", trace_string(t, f.func, NULL), f.pc,
               trace_string(t, f.file, NULL), f.line);
    }
}

static void transition(const struct trace_event *e)
{
    printf(" %s=%" PRId64 " %s->%s Reason=", e->kind == TRACE_G ? "GoID" : "ProcID", (int64_t)e->id,
           trace_state_name(e->from), trace_state_name(e->to));
    quoted(e->name);
    bool own = e->wire != WIRE_GO_UNBLOCK && e->wire != WIRE_GO_CREATE &&
               e->wire != WIRE_GO_CREATE_BLOCKED;
    uint32_t stack = own ? e->stack : e->new_stack;
    if (stack != 0 || e->wire == WIRE_GO_CREATE || e->wire == WIRE_GO_CREATE_BLOCKED)
        stack_lines("TransitionStack", stack);
}

static void range(const struct trace_event *e)
{
    printf(" Name=");
    quoted(e->name);
    if (e->scope == TRACE_SCOPE_GLOBAL)
        printf(" Scope=None");
    else
        printf(" Scope=%s(%" PRId64 ")", e->scope == TRACE_SCOPE_G ? "Goroutine" : "Proc",
               (int64_t)e->id);
    if (e->kind == TRACE_RANGE_END && e->wire == WIRE_GC_SWEEP_END)
        printf(" Attributes=[\"bytes swept\"=Value{Uint64(%" PRIu64 ")} "
               "\"bytes reclaimed\"=Value{Uint64(%" PRIu64 ")}]",
               e->value, e->value2);
    else if (e->kind == TRACE_RANGE_END)
        printf(" Attributes=[]");
}

static void named(const char *label, const struct trace_event *e)
{
    printf("%s", label);
    quoted(e->name);
}

static void details(const struct trace_event *e)
{
    switch ((enum trace_kind)e->kind) {
    case TRACE_G:
    case TRACE_P: transition(e); break;
    case TRACE_RANGE_BEGIN:
    case TRACE_RANGE_ACTIVE:
    case TRACE_RANGE_END: range(e); break;
    case TRACE_METRIC:
        named(" Name=", e);
        printf(" Value=Value{Uint64(%" PRIu64 ")}", e->value);
        break;
    case TRACE_LABEL:
        named(" Label=", e);
        printf(" Resource=Goroutine(%" PRId64 ")", (int64_t)e->id);
        break;
    case TRACE_TASK_BEGIN:
    case TRACE_TASK_END:
        printf(" ID=%" PRIu64 " Parent=%" PRIu64, e->id, e->value);
        named(" Type=", e);
        break;
    case TRACE_REGION_BEGIN:
    case TRACE_REGION_END:
        printf(" Task=%" PRIu64, e->id);
        named(" Type=", e);
        break;
    case TRACE_LOG:
        printf(" Task=%" PRIu64, e->id);
        named(" Category=", e);
        printf(" Message=");
        quoted(e->text);
        break;
    case TRACE_EXPERIMENT: printf(" Name=%s", trace_wire_name(e->wire)); break;
    case TRACE_SYNC: printf(" N=%" PRIu64, e->id); break;
    case TRACE_SAMPLE:
    case TRACE_KINDS: break;
    }
}

static void line(const struct trace_event *e)
{
    printf("M=%" PRId64 " P=%" PRId64 " G=%" PRId64 " %s Time=%" PRId64, (int64_t)e->m,
           (int64_t)e->p, (int64_t)e->g, trace_kind_name(e->kind), e->time);
    details(e);
    if (e->stack != 0 || e->kind == TRACE_SAMPLE)
        stack_lines("Stack", e->stack);
    printf("\n");
}

int main(int argc, char **argv)
{
    bool lenient = argc == 3 && strcmp(argv[1], "--lenient") == 0;
    struct trace_opts opts = {.strict = !lenient};
    struct failure f = {.code = E_OK};
    struct trace *r = trace_open(&f, argv[argc - 1], &opts);
    const struct trace_event *evs;
    size_t count;
    enum trace_got got = TRACE_BROKEN;
    t = r;
    while (r != NULL && (got = trace_next(r, &f, &evs, &count)) == TRACE_MORE)
        for (size_t i = 0; i < count; i++)
            line(&evs[i]);
    if (got == TRACE_BROKEN) {
        printf("error\n");
        fprintf(stderr, "%s\n", f.text);
    }
    for (int i = 0; r != NULL && i < trace_info_of(r)->nnotes; i++)
        fprintf(stderr, "note: %s\n", trace_info_of(r)->notes[i]);
    trace_close(r);
    return 0;
}
