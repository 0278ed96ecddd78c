/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim record: builds a Go program with an overlay of the standard library that writes a
 * trace, runs it, and keeps beside the trace what a trace does not hold: which release, how many
 * CPUs, what waking a thread costs here, how long threads waited for a CPU. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/osmeasure.h"
#include "cli/out.h"
#include "cli/overlay.h"
#include "replay/sidecar.h"
#include "replay/trace.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { ARGS_MAX = 512, PATH_LEN = 4096, NOT_FOUND = 127 };

struct rec_args {
    const char *out;
    int64_t procs, for_ns;
    bool shallow, keep, json;
    /* the command */
    char **argv;
    int argc;
    const char *go, *word, *in;    /* in: the folder of -C, NULL: this one */
    int first_flag, package, rest; /* places in argv; package 0: none given */
    /* found */
    char goroot[PATH_LEN], version[200], main_dir[PATH_LEN], dir[PATH_LEN];
    struct osmeasure os;
    int status;
};

/* ---- processes ---- */

static volatile sig_atomic_t child; /* 0: none */

static void forward(int signal)
{
    if (child > 0)
        kill((pid_t)child, signal);
}

/* What ends us ends the process that we wait for, and then we end in order: ^C comes to it as to
 * us, the rest we pass on. */
static void keep_signals(void)
{
    static const int passed_on[] = {SIGTERM, SIGHUP};
    struct sigaction pass = {.sa_handler = forward};
    signal(SIGINT, SIG_IGN);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaction(passed_on[i], &pass, NULL);
}

/* argv ends with NULL. out: where its standard output goes, -1: ours. Gives the exit status. */
static int run_program(const char *const *argv, int out, const char *cwd)
{
    pid_t pid = fork();
    if (pid < 0)
        cli_die(EXIT_INTERNAL, "record: cannot start a process: %s", strerror(errno));
    child = pid;
    if (pid == 0) {
        signal(SIGINT, SIG_DFL); /* a Go program that finds it ignored ignores it */
        if (out >= 0)
            dup2(out, STDOUT_FILENO);
        if (cwd != NULL && chdir(cwd) != 0)
            _exit(NOT_FOUND);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        fprintf(stderr, GMPSIM_NAME ": %s: %s\n", argv[0], strerror(errno));
        _exit(NOT_FOUND);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            cli_die(EXIT_INTERNAL, "record: lost a process");
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What it prints; dies if it fails. */
static void output_of(const char *const *argv, char *text, size_t size)
{
    FILE *kept = tmpfile();
    if (kept == NULL)
        cli_die(EXIT_INTERNAL, "record: no file: %s", strerror(errno));
    int status = run_program(argv, fileno(kept), NULL);
    rewind(kept);
    text[fread(text, 1, size - 1, kept)] = 0;
    fclose(kept);
    if (status != 0 || text[0] == 0)
        cli_die(EXIT_USAGE, "record: '%s %s' did not say what was asked", argv[0], argv[1]);
}

/* ---- the command ---- */

/* Flags of the go command whose value is the next argument. */
static bool takes_value(const char *flag)
{
    static const char *const names[] = {"-C",        "-p",       "-asmflags",   "-buildmode",
                                        "-compiler", "-gcflags", "-gccgoflags", "-installsuffix",
                                        "-ldflags",  "-mod",     "-modfile",    "-overlay",
                                        "-pgo",      "-pkgdir",  "-tags",       "-toolexec",
                                        "-o",        "-exec",    "-run",        "-bench",
                                        "-count",    "-timeout", "-cpu",        "-benchtime",
                                        "-parallel", "-skip",    NULL};
    if (flag[1] == '-')
        flag++;
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(flag, names[i]) == 0)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

/* Flags of go test that the test program takes, by the name that they have there. */
static bool is_test_flag(const char *flag, bool *has_value)
{
    static const char *const with[] = {"run",     "skip", "bench",     "count",
                                       "timeout", "cpu",  "benchtime", "parallel",
                                       "shuffle", "list", "fuzztime",  NULL};
    static const char *const without[] = {"v", "short", "failfast", "benchmem", NULL};
    if (flag[0] != '-')
        return false;
    flag += flag[1] == '-' ? 2 : 1;
    if (strncmp(flag, "test.", 5) == 0)
        flag += 5;
    size_t n = strcspn(flag, "=");
    for (int i = 0; with[i] != NULL; i++)
        if (strlen(with[i]) == n && strncmp(flag, with[i], n) == 0) {
            *has_value = flag[n] == 0;
            return true;
        }
    *has_value = false;
    for (int i = 0; without[i] != NULL; i++)
        if (strlen(without[i]) == n && strncmp(flag, without[i], n) == 0)
            return true;
    return false;
}

/* -C FOLDER, which go wants before all other flags. */
static void read_folder(struct rec_args *a)
{
    const char *flag = a->argc > 2 ? a->argv[2] : "";
    flag += strncmp(flag, "--C", 3) == 0;
    if (strncmp(flag, "-C=", 3) == 0)
        a->in = flag + 3;
    else if (strcmp(flag, "-C") == 0 && a->argc > 3)
        a->in = a->argv[3];
    if (a->in != NULL)
        a->first_flag += flag[2] == 0 ? 2 : 1;
}

/* go WORD [flags] [package or files] [arguments of the program] */
static void read_command(struct rec_args *a)
{
    static const char *const words[] = {"run", "test", "build", NULL};
    if (a->argc < 2)
        cli_die(EXIT_USAGE, "record: want -- go run PACKAGE, go test PACKAGE or go build PACKAGE");
    a->go = a->argv[0];
    a->word = a->argv[1];
    const char *near = cli_nearest(a->word, words);
    if (near == NULL || strcmp(near, a->word) != 0)
        cli_die(EXIT_USAGE, "record: go %s is not recorded; want run, test or build", a->word);
    a->first_flag = 2;
    read_folder(a);
    int i = a->first_flag;
    for (; i < a->argc && a->argv[i][0] == '-'; i++)
        if (takes_value(a->argv[i]))
            i++;
    a->package = i < a->argc ? i : 0;
    while (i < a->argc && ends_with(a->argv[i], ".go"))
        i++;
    a->rest = a->package != 0 && i == a->package ? i + 1 : i;
    if (a->rest > a->argc)
        a->rest = a->argc;
}

static const char *package_of(const struct rec_args *a)
{
    return a->package != 0 ? a->argv[a->package] : ".";
}

static void add(const char **argv, int *n, const char *arg)
{
    if (*n == ARGS_MAX - 1)
        cli_die(EXIT_USAGE, "record: more than %d arguments", ARGS_MAX);
    argv[(*n)++] = arg;
    argv[*n] = NULL;
}

/* go WORD, in the folder that was given. */
static void add_go(const struct rec_args *a, const char **argv, int *n, const char *word)
{
    add(argv, n, a->go);
    add(argv, n, word);
    if (a->in != NULL) {
        add(argv, n, "-C");
        add(argv, n, a->in);
    }
}

static void ask_env(const struct rec_args *a, const char *name, char *value, size_t size)
{
    const char *argv[ARGS_MAX];
    int n = 0;
    add_go(a, argv, &n, "env");
    add(argv, &n, name);
    output_of(argv, value, size);
    value[strcspn(value, "\n")] = 0;
}

/* Flags of a build that decide which packages and files there are. */
static bool is_list_flag(const char *flag)
{
    static const char *const names[] = {"mod", "modfile", "tags", "race", "msan", "asan", NULL};
    flag += flag[1] == '-' ? 2 : 1;
    size_t n = strcspn(flag, "=");
    for (int i = 0; names[i] != NULL; i++)
        if (strlen(names[i]) == n && strncmp(flag, names[i], n) == 0)
            return true;
    return false;
}

/* A line for each package that the argument means: its name, its folder, how it is called, and
 * whether it has tests. */
static void ask_packages(const struct rec_args *a, char *lines, size_t size)
{
    const char *argv[ARGS_MAX];
    int n = 0, end = a->package != 0 ? a->package : a->argc;
    add_go(a, argv, &n, "list");
    for (int i = a->first_flag; i < end; i++) {
        bool value = takes_value(a->argv[i]), wanted = is_list_flag(a->argv[i]);
        if (wanted)
            add(argv, &n, a->argv[i]);
        i += value;
        if (wanted && value && i < end)
            add(argv, &n, a->argv[i]);
    }
    add(argv, &n, "-f");
    add(argv, &n,
        "{{.Name}}\t{{.Dir}}\t{{.ImportPath}}\t{{if or .TestGoFiles .XTestGoFiles}}t{{end}}");
    add(argv, &n, package_of(a));
    output_of(argv, lines, size);
}

/* One recording is of one program: of the packages with tests, or of one main package. */
static void choose_package(struct rec_args *a, char *lines)
{
    static char chosen[PATH_LEN];
    char names[2000] = "", *save = NULL;
    bool test = strcmp(a->word, "test") == 0;
    int all = 0, count = 0;
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char name[200], dir[PATH_LEN], path[PATH_LEN], tests[2] = "";
        if (sscanf(line, "%199[^\t]\t%4095[^\t]\t%4095[^\t]\t%1s", name, dir, path, tests) < 3)
            continue;
        all++;
        if (test ? tests[0] == 0 : strcmp(name, "main") != 0)
            continue;
        if (count++ == 0) {
            snprintf(a->main_dir, sizeof a->main_dir, "%s", dir);
            snprintf(chosen, sizeof chosen, "%s", path);
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %.300s", path);
    }
    if (count == 0)
        cli_die(EXIT_USAGE, "record: %s: %s", package_of(a),
                test ? "no tests" : "no main package: there is nothing to run");
    if (count > 1)
        cli_die(EXIT_USAGE, "record: %d packages, but one recording: name one of them:%s", count,
                names);
    if (all > 1)
        a->argv[a->package] = chosen;
}

static void ask_go(struct rec_args *a)
{
    static char lines[1 << 18];
    ask_env(a, "GOROOT", a->goroot, sizeof a->goroot);
    ask_env(a, "GOVERSION", a->version, sizeof a->version);
    if (!ends_with(package_of(a), ".go")) {
        ask_packages(a, lines, sizeof lines);
        choose_package(a, lines);
        return;
    }
    snprintf(a->main_dir, sizeof a->main_dir, "%s", package_of(a));
    char *slash = strrchr(a->main_dir, '/');
    if (slash != NULL)
        *slash = 0;
    else if (a->in == NULL && getcwd(a->main_dir, sizeof a->main_dir) == NULL)
        cli_die(EXIT_INTERNAL, "record: no current folder");
    else if (a->in != NULL)
        strcpy(a->main_dir, ".");
}

/* ---- build ---- */

static void clean(const struct rec_args *a)
{
    const char *argv[] = {"rm", "-rf", "--", a->dir, NULL};
    if (!a->keep)
        (void)run_program(argv, -1, NULL);
}

_Noreturn static void give_up(const struct rec_args *a, const char *why)
{
    clean(a);
    cli_die(EXIT_USAGE, "record: %s", why);
}

static void build(struct rec_args *a, const char *program)
{
    char overlay[PATH_LEN + 40], extra[PATH_LEN + 40];
    const char *argv[ARGS_MAX] = {NULL}, *file = package_of(a);
    int n = 0;
    bool test = strcmp(a->word, "test") == 0;
    snprintf(overlay, sizeof overlay, "-overlay=%s/overlay.json", a->dir);
    add_go(a, argv, &n, test ? "test" : "build");
    if (test)
        add(argv, &n, "-c");
    add(argv, &n, overlay);
    if (program != NULL) {
        add(argv, &n, "-o");
        add(argv, &n, program);
    }
    int flags_end = a->package != 0 ? a->package : a->argc;
    for (int i = a->first_flag; i < flags_end; i++) {
        bool value;
        if (test && is_test_flag(a->argv[i], &value))
            i += value;
        else
            add(argv, &n, a->argv[i]);
    }
    if (test) /* vet looks for the overlay's files where they are not */
        add(argv, &n, "-vet=off");
    for (int i = a->package; i != 0 && i < a->rest; i++)
        add(argv, &n, a->argv[i]);
    if (!test && ends_with(file, ".go")) { /* all files have to be named in the same way */
        int folder = strrchr(file, '/') != NULL ? (int)(strrchr(file, '/') - file) + 1 : 0;
        snprintf(extra, sizeof extra, "%.*s" OVERLAY_MAIN, folder, file);
        add(argv, &n, extra);
    }
    if (run_program(argv, -1, NULL) != 0)
        give_up(a, a->shallow ? "the program was not built"
                              : "the program was not built; if it is without " GMPSIM_NAME
                                ", try --shallow");
}

/* ---- run ---- */

static void set_env(const char *name, int64_t value)
{
    char text[40];
    snprintf(text, sizeof text, "%" PRId64, value);
    setenv(name, text, 1);
}

/* go test takes flags behind the package too, up to -args. */
static void test_flags(const struct rec_args *a, const char **argv, int *n)
{
    static char texts[ARGS_MAX][256];
    bool value, own = false;
    for (int i = a->first_flag; i < a->argc; i++) {
        const char *arg = a->argv[i];
        if (own) {
            add(argv, n, arg);
        } else if (strcmp(arg, "-args") == 0 || strcmp(arg, "--args") == 0) {
            own = true;
        } else if (is_test_flag(arg, &value)) {
            arg += arg[1] == '-' ? 2 : 1;
            arg += strncmp(arg, "test.", 5) == 0 ? 5 : 0;
            snprintf(texts[*n], sizeof texts[*n], "-test.%s", arg);
            add(argv, n, texts[*n]);
            if (value && i + 1 < a->argc)
                add(argv, n, a->argv[++i]);
        } else if (i >= a->rest) {
            give_up(a, "what is behind the package has to be a flag of tests, or behind -args");
        }
    }
}

static void run_it(struct rec_args *a, const char *program)
{
    const char *argv[ARGS_MAX] = {NULL};
    char absolute[PATH_LEN], flag[PATH_LEN + 20], for_text[40];
    int n = 0;
    bool test = strcmp(a->word, "test") == 0;
    if (a->out[0] == '/' || getcwd(absolute, sizeof absolute) == NULL)
        absolute[0] = 0;
    size_t used = strlen(absolute);
    snprintf(absolute + used, sizeof absolute - used, "%s%s", used > 0 ? "/" : "", a->out);
    if (a->procs > 0)
        set_env("GOMAXPROCS", a->procs);
    add(argv, &n, program);
    if (test) {
        snprintf(flag, sizeof flag, "-test.trace=%s", absolute);
        add(argv, &n, flag);
    } else {
        setenv("GMPSIM_TRACE", absolute, 1);
    }
    if (a->for_ns > 0) {
        snprintf(for_text, sizeof for_text, "%" PRId64 "ns", a->for_ns);
        setenv("GMPSIM_FOR", for_text, 1);
        setenv("GMPSIM_THEN", "exit", 1);
    }
    if (test)
        test_flags(a, argv, &n);
    else
        for (int i = a->rest; i < a->argc; i++)
            add(argv, &n, a->argv[i]);
    a->status = run_program(argv, a->json ? STDERR_FILENO : -1, test ? a->main_dir : a->in);
}

/* ---- beside the trace ---- */

static void read_cpu_stat(char *text, size_t size)
{
    static const char *const paths[] = {"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat",
                                        NULL};
    text[0] = 0;
    for (int i = 0; paths[i] != NULL && text[0] == 0; i++) {
        FILE *f = fopen(paths[i], "r");
        if (f == NULL)
            continue;
        text[fread(text, 1, size - 1, f)] = 0;
        fclose(f);
    }
}

/* Lines "begin TID run wait slices" and "end ...": what passed in between. */
static void read_threads(const struct rec_args *a, struct sidecar *s)
{
    char path[PATH_LEN], line[200], when[8];
    long tid;
    long long run, wait;
    snprintf(path, sizeof path, "%s.threads", a->out);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "%7s %ld %lld %lld", when, &tid, &run, &wait) == 4) {
            int sign = strcmp(when, "end") == 0 ? 1 : -1;
            s->thread_run_ns += sign * run;
            s->thread_wait_ns += sign * wait;
            s->threads += sign > 0;
        }
    fclose(f);
    unlink(path);
}

static void write_sidecar(struct rec_args *a, struct sidecar *side)
{
    struct failure f = {0};
    struct utsname u;
    struct sidecar s = {.procs = (int32_t)a->procs,
                        .cpus = a->os.cpus,
                        .deep = !a->shallow,
                        .futex_wake_ns = a->os.futex_wake_ns,
                        .wake_latency_ns = a->os.wake_latency_ns,
                        .wake_deep_ns = a->os.wake_deep_ns,
                        .deep_after_ns = a->os.deep_after_ns,
                        .sleep_late_ns = a->os.sleep_late_ns,
                        .pause_ps = a->os.pause_ps};
    snprintf(s.go, sizeof s.go, "%.90s", a->version);
    if (uname(&u) == 0)
        snprintf(s.kernel, sizeof s.kernel, "%.60s %.60s", u.sysname, u.release);
    read_cpu_stat(s.cpu_stat, sizeof s.cpu_stat);
    read_threads(a, &s);
    for (int i = 0; i < a->argc; i++) {
        size_t used = strlen(s.command);
        snprintf(s.command + used, sizeof s.command - used, "%s%s", i > 0 ? " " : "", a->argv[i]);
    }
    if (!sidecar_write(&f, a->out, &s))
        cli_fail(&f);
    *side = s;
}

/* What Go's tracer has not finished when the process dies cannot be read: up to a second of it. */
static void check_trace(const struct rec_args *a)
{
    struct failure f = {0};
    struct stat st;
    const struct trace_event *events;
    size_t count;
    if (stat(a->out, &st) != 0 || st.st_size == 0)
        cli_die(EXIT_USAGE, "record: the program (exit status %d) left no trace", a->status);
    struct trace *t = trace_open(&f, a->out, NULL);
    bool any = t != NULL && trace_next(t, &f, &events, &count) == TRACE_MORE &&
               trace_info_of(t)->generations > 0;
    if (t != NULL)
        trace_close(t);
    if (!any)
        cli_die(EXIT_USAGE,
                "record: the program (exit status %d) was ended before its trace could be: nothing "
                "of %s can be read. Let it return, call os.Exit, or record with --for",
                a->status, a->out);
}

static void say(const struct rec_args *a)
{
    char name[PATH_LEN];
    fprintf(stderr, "recorded: %s (%s, %s%s)\n", text_in(name, sizeof name, TEXT_SHELL, a->out),
            a->version, a->shallow ? "plain" : "deep", a->status != 0 ? ", it failed" : "");
    if (a->os.futex_wake_ns > 0)
        fprintf(stderr, "waking a thread takes %s here, and it runs %s later\n",
                time_text(a->os.futex_wake_ns), time_text(a->os.wake_latency_ns));
    if (a->procs == 1)
        fprintf(stderr, "at one P nobody waits for a lock: record at two or more to ask about "
                        "contention\n");
    fprintf(stderr, "next: " GMPSIM_NAME " replay %s\n", name);
}

static void say_json(const struct rec_args *a, const struct sidecar *s)
{
    cJSON *j = s != NULL ? sidecar_json(s) : cJSON_CreateObject();
    cJSON_AddStringToObject(j, "trace", s != NULL ? a->out : "");
    cJSON_AddNumberToObject(j, "exit_status", a->status);
    out_json(j);
}

int command_record(const struct command *v, int argc, char **argv)
{
    struct rec_args a = {.out = "trace.out"};
    struct failure f = {0};
    struct sidecar side;
    char program[PATH_LEN + 16];
    const struct opt table[] = {
        {"out", "FILE", "where the trace goes (default trace.out)", OPT_TEXT, &a.out},
        {"procs", "N", "GOMAXPROCS of the program (default: its own)", OPT_COUNT, &a.procs},
        {"for", "TIME", "stop the trace and the program after this time", OPT_LENGTH, &a.for_ns},
        {"shallow", NULL, "no deep recording: locks and channels say nothing", OPT_FLAG,
         &a.shallow},
        {"keep", NULL, "leave the overlay's folder and say where it is", OPT_FLAG, &a.keep},
        {"json", NULL, "says what was recorded as JSON; the program prints on standard error",
         OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    a.argv = argv + first;
    a.argc = argc - first;
    read_command(&a);
    keep_signals();
    ask_go(&a);
    snprintf(a.dir, sizeof a.dir, "%s/gmpsim-XXXXXX",
             getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (mkdtemp(a.dir) == NULL)
        cli_die(EXIT_USAGE, "%s: cannot make a folder: %s", a.dir, strerror(errno));
    struct overlay_opts o = {.goroot = a.goroot,
                             .main_dir = strcmp(a.word, "test") == 0 ? NULL : a.main_dir,
                             .dir = a.dir,
                             .deep = !a.shallow};
    if (!overlay_write(&f, &o)) {
        clean(&a);
        cli_fail(&f);
    }
    if (a.keep)
        fprintf(stderr, "overlay: %s\n", a.dir);
    if (strcmp(a.word, "build") == 0) {
        build(&a, NULL);
        clean(&a);
        fprintf(stderr, "built: with GMPSIM_TRACE=FILE in its environment it writes a trace\n");
        if (a.json)
            say_json(&a, NULL);
        return EXIT_CLEAN;
    }
    snprintf(program, sizeof program, "%s/program", a.dir);
    build(&a, program);
    (void)os_measure(&a.os);
    run_it(&a, program);
    clean(&a);
    check_trace(&a);
    write_sidecar(&a, &side);
    if (a.json)
        say_json(&a, &side);
    else
        say(&a);
    return EXIT_CLEAN;
}
