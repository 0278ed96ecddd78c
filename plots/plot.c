/* SPDX-License-Identifier: BSD-3-Clause */
#include "plots/plot_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/alloc.h"

enum {
    PATH_LEN = 1024,
    ENDING = 4, /* ".svg" */
    EXIT_NO_PROGRAM = 127,
    EXIT_NO_FOLDER = 126,
    TITLE_COLUMNS = 120,
    WHOLE_TICS = 6
};

const char *const colours[COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#882255", "#000000"};

const struct plot_picture plot_pictures[] = {
    {"latency", "share of slower requests over latency, per span, and the run-queue wait",
     PLOT_RUNS},
    {"histogram", "how many of a span took how long", PLOT_RUNS | PLOT_SPAN},
    {"heatmap", "latency of a span over time", PLOT_SPAN},
    {"runq", "runnable goroutines over time: in all queues, in the global queue", 0},
    {"queues", "the run queue of each P over time, and the global one", 0},
    {"steals", "which P took goroutines from which", 0},
    {"utilisation", "what the Ps did over time, stacked", 0},
    {"threads", "Ms over time: all, idle, spinning", 0},
    {"throttling", "how long the CPU quota was used up, period by period", 0},
    {"waits", "what goroutines waited for, by reason and group", 0},
    {"wakes", "which group woke which: a graph (SVG and DOT)", PLOT_GRAPH},
    {"timeline", "which goroutine ran where: a lane per P", PLOT_WINDOW},
    {"whatif", "a what-if grid: percentiles and throughput over what varies",
     PLOT_GRID | PLOT_SPAN},
    {NULL, NULL, 0},
};

static plot_fn *const functions[] = {
    plot_latency, plot_histogram,   plot_heatmap, plot_runq,       plot_queues,
    plot_steals,  plot_utilisation, plot_threads, plot_throttling, plot_waits,
    plot_wakes,   plot_timeline,    plot_whatif};
_Static_assert(sizeof functions / sizeof *functions + 1 ==
                   sizeof plot_pictures / sizeof *plot_pictures,
               "a function for each picture");

/* ---- what the pictures share ---- */

void plot_fail(struct plot *p, const char *fmt, ...)
{
    va_list ap;
    if (p->failed)
        return;
    p->failed = true;
    va_start(ap, fmt);
    vsnprintf(p->text, PLOT_TEXT_MAX, fmt, ap);
    va_end(ap);
}

sqlite3_stmt *plot_query(struct plot *p, const char *sql)
{
    sqlite3_stmt *st;
    if (p->failed)
        return NULL;
    if (sqlite3_prepare_v2(p->args->db, sql, -1, &st, NULL) != SQLITE_OK) {
        plot_fail(p, "%s", sqlite3_errmsg(p->args->db));
        return NULL;
    }
    sqlite3_bind_int64(st, 1, p->run);
    return st;
}

/* What a damaged file says comes with the last row. */
void plot_done(struct plot *p, sqlite3_stmt *st)
{
    if (sqlite3_finalize(st) != SQLITE_OK)
        plot_fail(p, "%s", sqlite3_errmsg(p->args->db));
}

int64_t plot_number(struct plot *p, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *st = plot_query(p, sql);
    if (st != NULL && sqlite3_step(st) == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
        otherwise = sqlite3_column_int64(st, 0);
    plot_done(p, st);
    return otherwise;
}

/* A store of an older version has fewer. */
bool plot_has_table(struct plot *p, const char *name)
{
    bool has = false;
    sqlite3_stmt *st = plot_query(p, "SELECT ?1 FROM sqlite_master WHERE name = ?2");
    if (st != NULL) {
        sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
        has = sqlite3_step(st) == SQLITE_ROW;
    }
    plot_done(p, st);
    return has;
}

const char *plot_run_list(const struct plot *p, char *buf, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < p->args->nruns && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%" PRId64, i > 0 ? ", " : "", p->args->runs[i]);
    return buf;
}

/* What tells a run from the others: of each two columns the value, and whether the runs differ. */
static void put_differences(sqlite3_stmt *st, char *buf, size_t size)
{
    static const char *const forms[] = {"%s", "%s", "%s Ps", "%s CPUs", "quota %s", "seed %s"};
    static const char *const without[] = {"", "", "", "dedicated CPUs", "no quota", ""};
    size_t used = 0;
    buf[0] = 0;
    for (int i = 0; i < 6; i++) {
        const char *text = (const char *)sqlite3_column_text(st, 2 * i);
        char word[60];
        if (sqlite3_column_int(st, 2 * i + 1) == 0 || used >= size)
            continue;
        snprintf(word, sizeof word, text != NULL ? forms[i] : without[i],
                 text_cut(text != NULL ? text : "", 16));
        used += (size_t)snprintf(buf + used, size - used, "%s%s", used > 0 ? ", " : "", word);
    }
}

const char *plot_run_label(struct plot *p, int64_t run, char *buf, size_t size)
{
    char list[200], sql[1000], more[90] = "";
    int64_t before = p->run;
    plot_run_list(p, list, sizeof list);
    snprintf(sql, sizeof sql,
             "WITH o AS (SELECT * FROM runs WHERE id IN (%s)), d AS (SELECT id, scenario AS a,"
             " profile AS b, procs AS c, nullif(cpus, 0) AS d, CASE WHEN quota_us > 0 AND"
             " period_us > 0 THEN round(1.0 * quota_us / period_us, 2) END AS e, seed AS f FROM o)"
             " SELECT a, (SELECT count(DISTINCT a) > 1 FROM d), b, (SELECT count(DISTINCT b) > 1"
             " FROM d), c, (SELECT count(DISTINCT c) > 1 FROM d), d, (SELECT count(DISTINCT"
             " ifnull(d, 0)) > 1 FROM d), e, (SELECT count(DISTINCT ifnull(e, 0)) > 1 FROM d), f,"
             " (SELECT count(DISTINCT f) > 1 FROM d) FROM d WHERE id = ?1",
             list);
    p->run = run;
    sqlite3_stmt *st = plot_query(p, sql);
    if (st != NULL && sqlite3_step(st) == SQLITE_ROW)
        put_differences(st, more, sizeof more);
    plot_done(p, st);
    p->run = before;
    snprintf(buf, size, "run %" PRId64 "%s%s%s", run, more[0] != 0 ? " (" : "", more,
             more[0] != 0 ? ")" : "");
    return buf;
}

bool plot_main_span(struct plot *p, struct plot_span *out)
{
    sqlite3_stmt *st = plot_query(
        p, "SELECT kind, name, count, min_ns, max_ns FROM latencies WHERE run = ?1"
           " AND kind IN ('span', 'life') AND max_ns > 0 AND (?2 IS NULL OR name = ?2)"
           " ORDER BY kind = 'life', name = 'runtime', 1.0 * count * mean_ns DESC, name LIMIT 1");
    bool is = false;
    if (st != NULL) {
        sqlite3_bind_text(st, 2, p->args->span, -1, SQLITE_STATIC);
        is = sqlite3_step(st) == SQLITE_ROW;
    }
    if (is) {
        const char *name = (const char *)sqlite3_column_text(st, 1);
        const char *kind = (const char *)sqlite3_column_text(st, 0);
        *out = (struct plot_span){.is_life = kind != NULL && kind[0] == 'l',
                                  .name = x_strdup(name != NULL ? name : ""),
                                  .count = sqlite3_column_int64(st, 2),
                                  .min_ns = sqlite3_column_int64(st, 3),
                                  .max_ns = sqlite3_column_int64(st, 4)};
    } else if (p->args->span != NULL) {
        plot_fail(p, "run %" PRId64 " has no span '%s'", p->run, text_line(p->args->span));
    }
    plot_done(p, st);
    return is && !p->failed;
}

int plot_block(struct plot *p)
{
    if (p->blocks > 0)
        fputs("\n\n", p->dat);
    return p->blocks++;
}

const char *plot_quote(const char *text, char *buf, size_t size)
{
    return text_in(buf, size, TEXT_GNUPLOT, text);
}

static void put_title_line(struct plot *p, const char *text)
{
    fputs(" . \"\\n\" . ", p->gp);
    text_put(p->gp, TEXT_GNUPLOT, text_cut(text, TITLE_COLUMNS));
}

void plot_title(struct plot *p, const char *what, const char *more)
{
    text_put(p->gp, TEXT_GNUPLOT, what);
    put_title_line(p, p->title);
    if (more[0] != 0)
        put_title_line(p, more);
    fputc('\n', p->gp);
}

void plot_head(struct plot *p, int height)
{
    const char *out = p->args->out, *slash = strrchr(out, '/');
    bool png = strcmp(out + strlen(out) - ENDING, ".png") == 0;
    char name[PATH_LEN * 3];
    fputs("# SPDX-License-Identifier: BSD-3-Clause\n# gnuplot 5.2 or newer\n", p->gp);
    fprintf(p->gp, "set terminal %s size %d,%d font 'sans,%d'%s noenhanced\n",
            png ? "pngcairo" : "svg", PLOT_WIDTH, height, png ? 13 : 15,
            png ? "" : " background 'white'");
    snprintf(name, sizeof name, "./%s", slash != NULL ? slash + 1 : out); /* "./": no pipe */
    fputs("set encoding utf8\nset output ", p->gp);
    text_put(p->gp, TEXT_GNUPLOT, name);
    fputs("\nset border 3 lc rgb '#444444'\nset tics nomirror out\nset rmargin 5\n"
          "set grid lc rgb '#dddddd' lw 1 lt 1\nset key noenhanced\n",
          p->gp);
}

void plot_begin(struct plot *p, int height, const char *what, const char *more)
{
    plot_head(p, height);
    fputs("set title ", p->gp);
    plot_title(p, what, more);
}

const char *plot_untold(const struct plot *p, const char *why)
{
    return p->recorded ? "a Go trace does not tell this" : why;
}

void plot_nothing(struct plot *p, const char *what, const char *why)
{
    char text[200];
    plot_begin(p, PLOT_HEIGHT, what, "");
    fprintf(p->gp,
            "unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
            "set label %s at 0.5,0.5 center\nplot NaN notitle\n",
            plot_quote(why, text, sizeof text));
    plot_block(p);
    fprintf(p->dat, "# %s\n", why);
}

int64_t plot_unit(int64_t ns, const char **name)
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    int64_t unit = 1;
    int i = 0;
    while (i < 3 && ns / unit >= 2000) {
        unit *= 1000;
        i++;
    }
    *name = names[i];
    return unit;
}

const char *plot_time(int64_t ns)
{
    static char ring[4][32];
    static unsigned next;
    const char *unit;
    char *out = ring[next++ % 4];
    int64_t u = plot_unit(ns > INT64_MAX / 2 ? ns : 2 * ns, &unit); /* 1.994 ms, not 1994 us */
    snprintf(out, sizeof ring[0], "%.4g %s", (double)ns / (double)u, unit);
    return out;
}

/* Of less than a third of a decade the powers of ten and their halves say nothing. */
static void narrow_tics(struct plot *p, const char *axis, int64_t low_ns, int64_t high_ns)
{
    int64_t step = 1, want = (high_ns - low_ns) / 5;
    const char *comma = "";
    while (step < want)
        step *= step * 2 >= want ? 2 : step * 5 >= want ? 5 : 10;
    fprintf(p->gp, "set %stics (", axis);
    for (int64_t t = low_ns / step * step; t <= high_ns; t += step) {
        if (t > 0)
            fprintf(p->gp, "%s'%s' %" PRId64, comma, plot_time(t), t);
        comma = t > 0 ? ", " : comma;
    }
    fputs(")\n", p->gp);
}

void plot_counts(struct plot *p, const char *axis, double most)
{
    if (most < WHOLE_TICS)
        fprintf(p->gp, "set %stics 1\n", axis);
}

void plot_time_tics(struct plot *p, const char *axis, int64_t low_ns, int64_t high_ns)
{
    if (high_ns / 3 <= low_ns && low_ns < high_ns) {
        narrow_tics(p, axis, low_ns, high_ns);
        return;
    }
    static const char *const units[] = {"ns", "us", "ms", "s", "ks", "Ms"};
    const char *comma = "";
    bool few = high_ns / 100 < low_ns; /* powers of ten: they alone would not do */
    int exponent = 0;
    int64_t t = 1;
    for (; t <= low_ns / 10; t *= 10)
        exponent++;
    fprintf(p->gp, "set %stics (", axis);
    for (; t <= high_ns && exponent < 18; t *= 10, exponent++) {
        static const char *const numbers[] = {"1", "10", "100"};
        fprintf(p->gp, "%s'%s %s' %" PRId64 " 0", comma, numbers[exponent % 3], units[exponent / 3],
                t);
        comma = ", ";
        for (int k = 2; k < 10; k++)
            if (few && (k == 2 || k == 5))
                fprintf(p->gp, ", '%d%s %s' %" PRId64 " 0", k, numbers[exponent % 3] + 1,
                        units[exponent / 3], k * t);
            else
                fprintf(p->gp, ", '' %" PRId64 " 1", k * t);
    }
    fputs(")\n", p->gp);
}

/* ---- one picture ---- */

static const char *text_of(sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text != NULL ? text : "";
}

static void describe(struct plot *p, sqlite3_stmt *st)
{
    int64_t quota = sqlite3_column_int64(st, 4);
    char cpus[40] = "dedicated CPUs", limit[80] = "";
    const char *rules = text_of(st, 8);
    p->procs = sqlite3_column_int(st, 2);
    p->makespan_ns = sqlite3_column_int64(st, 7);
    if (p->procs < 1 || p->makespan_ns < 0 || p->makespan_ns > PLOT_TIME_MAX)
        plot_fail(p, "run %" PRId64 " is damaged", p->run);
    if (sqlite3_column_int(st, 3) > 0)
        snprintf(cpus, sizeof cpus, "%d CPUs", sqlite3_column_int(st, 3));
    if (quota > 0)
        snprintf(limit, sizeof limit, ", quota %.2f CPUs",
                 (double)quota / (double)sqlite3_column_int64(st, 5));
    p->recorded = strcmp(text_of(st, 9), "recorded") == 0;
    if (p->recorded) {
        snprintf(p->title, sizeof p->title, "%s — recorded, %s trace, GOMAXPROCS %d",
                 text_cut(text_of(st, 0), 50), text_cut(text_of(st, 1), 10), p->procs);
        return;
    }
    snprintf(p->title, sizeof p->title, "%s — %s, GOMAXPROCS %d, %s%s%s%s, seed %s",
             text_cut(text_of(st, 0), 50), text_cut(text_of(st, 1), 10), p->procs, cpus, limit,
             rules[0] != 0 ? ", " : "", text_cut(rules, 40), text_cut(text_of(st, 6), 20));
}

void plot_read_run(struct plot *p, int64_t run)
{
    p->run = run;
    sqlite3_stmt *st = plot_query(p, "SELECT scenario, profile, procs, cpus, quota_us, period_us,"
                                     " seed, makespan_ns, rules, host FROM runs WHERE id = ?1");
    if (st == NULL)
        return;
    if (sqlite3_step(st) == SQLITE_ROW)
        describe(p, st);
    else
        plot_fail(p, "no run %" PRId64, run);
    plot_done(p, st);
}

/* "a/b.svg" with another ending. */
static void sibling(const char *out, const char *ending, char *buf, size_t size)
{
    snprintf(buf, size, "%.*s%s", (int)(strlen(out) - ENDING), out, ending);
}

/* Runs in the picture's folder, since the script names its files without folders. Its complaints
 * go to `errors`. */
static _Noreturn void exec_gnuplot(char *gp, int errors)
{
    char *slash = strrchr(gp, '/'), name[PATH_LEN + 2];
    if (slash != NULL) {
        *slash = 0;
        if (chdir(*gp != 0 ? gp : "/") != 0)
            _exit(EXIT_NO_FOLDER);
        gp = slash + 1;
    }
    snprintf(name, sizeof name, "./%s", gp); /* "./": no option */
    dup2(errors, STDERR_FILENO);
    execlp("gnuplot", "gnuplot", name, (char *)NULL);
    _exit(EXIT_NO_PROGRAM);
}

/* The first words of weight of gnuplot's complaint. */
static void read_complaint(int fd, char *buf, size_t size)
{
    size_t used = 0;
    ssize_t n;
    char rest[512];
    while (used < size - 1 && (n = read(fd, buf + used, size - 1 - used)) > 0)
        used += (size_t)n;
    while (read(fd, rest, sizeof rest) > 0) /* it must not wait for us */
        ;
    buf[used] = 0;
    char *said = strstr(buf, "line ");
    if (said != NULL)
        memmove(buf, said, strlen(said) + 1);
    buf[strcspn(buf, "\n")] = 0;
}

static int wait_gnuplot(pid_t pid, int errors, char *complaint, size_t size)
{
    int status;
    read_complaint(errors, complaint, size);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static enum plot_result judge(int status, const char *gp, const char *complaint, char *text)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return PLOT_DRAWN;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_PROGRAM) {
        snprintf(text, PLOT_TEXT_MAX,
                 "gnuplot is not installed (Debian: apt install gnuplot-nox); %s is ready for it",
                 text_line(gp));
        return PLOT_NO_GNUPLOT;
    }
    snprintf(text, PLOT_TEXT_MAX, "gnuplot %s failed%s%s", text_line(gp),
             complaint[0] != 0 ? ": " : "", text_line(complaint));
    return PLOT_FAILED;
}

static enum plot_result run_gnuplot(const char *gp, char *text)
{
    char path[PATH_LEN], complaint[400] = "";
    int errors[2];
    snprintf(path, sizeof path, "%s", gp);
    fflush(NULL);
    pid_t pid = pipe2(errors, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid < 0) {
        snprintf(text, PLOT_TEXT_MAX, "gnuplot: %s", strerror(errno));
        return PLOT_FAILED;
    }
    if (pid == 0)
        exec_gnuplot(path, errors[1]);
    close(errors[1]);
    int status = wait_gnuplot(pid, errors[0], complaint, sizeof complaint);
    close(errors[0]);
    return judge(status, gp, complaint, text);
}

/* No picture is better than an empty file that looks like one. */
static void remove_empty(const char *out)
{
    struct stat st;
    if (stat(out, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        unlink(out);
}

static int find(const char *picture)
{
    for (int i = 0; plot_pictures[i].name != NULL; i++)
        if (strcmp(plot_pictures[i].name, picture) == 0)
            return i;
    return -1;
}

static void name_data(struct plot *p, const char *dat)
{
    const char *slash = strrchr(dat, '/');
    char name[PATH_LEN + 2];
    snprintf(name, sizeof name, "./%s", slash != NULL ? slash + 1 : dat);
    p->dat_name = x_alloc(3 * sizeof name);
    text_in(p->dat_name, 3 * sizeof name, TEXT_GNUPLOT, name);
}

static void write_files(struct plot *p, int picture, const char *gp, const char *dat)
{
    name_data(p, dat);
    p->gp = fopen(gp, "w");
    p->dat = p->gp != NULL ? fopen(dat, "w") : NULL;
    if (p->dat == NULL) {
        plot_fail(p, "%s: %s", text_line(p->gp == NULL ? gp : dat), strerror(errno));
    } else {
        if (p->args->grid == NULL)
            plot_read_run(p, p->args->runs[0]);
        if (!p->failed)
            functions[picture](p);
    }
    bool written = p->gp != NULL && p->dat != NULL && !ferror(p->gp) && !ferror(p->dat);
    if (p->gp != NULL && fclose(p->gp) != 0)
        written = false;
    if (p->dat != NULL && fclose(p->dat) != 0)
        written = false;
    if (!written)
        plot_fail(p, "%s: cannot be written: %s", text_line(gp), strerror(errno));
    free(p->dat_name);
}

/* What is wrong with the wish, NULL if nothing is. */
static const char *mistake(const struct plot_args *a, int picture)
{
    size_t n = strlen(a->out);
    if (picture < 0)
        return "no such picture";
    if (n < ENDING + 1 || n > PATH_LEN - 8 || a->out[n - ENDING - 1] == '/' ||
        (strcmp(a->out + n - ENDING, ".svg") != 0 && strcmp(a->out + n - ENDING, ".png") != 0))
        return "a picture's name ends with .svg or .png";
    if (!text_is_plain_name(a->out))
        return "a picture's name holds no control characters";
    if (a->nruns > 1 && (plot_pictures[picture].takes & PLOT_RUNS) == 0)
        return "this picture shows one run; latency and histogram compare several";
    if ((plot_pictures[picture].takes & PLOT_GRAPH) != 0 &&
        strcmp(a->out + n - ENDING, ".svg") != 0)
        return "a graph is an .svg; \"dot -Tpng\" draws the .dot that is written beside it";
    return NULL;
}

enum plot_result plot_draw(const struct plot_args *a, char text[PLOT_TEXT_MAX])
{
    char gp[PATH_LEN], dat[PATH_LEN];
    struct plot p = {.args = a, .text = text};
    int picture = find(a->picture);
    const char *wrong = mistake(a, picture);
    if (wrong != NULL) {
        snprintf(text, PLOT_TEXT_MAX, "%s", wrong);
        return PLOT_FAILED;
    }
    bool graph = (plot_pictures[picture].takes & PLOT_GRAPH) != 0;
    sibling(a->out, graph ? ".svg" : ".gp", gp, sizeof gp);
    sibling(a->out, graph ? ".dot" : ".dat", dat, sizeof dat);
    write_files(&p, picture, gp, dat);
    enum plot_result r = p.failed ? PLOT_FAILED : graph ? PLOT_DRAWN : run_gnuplot(gp, text);
    if (r != PLOT_DRAWN)
        remove_empty(a->out);
    return r;
}
