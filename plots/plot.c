/* SPDX-License-Identifier: BSD-3-Clause */
#include "plots/plot_int.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_LEN = 1024, EXIT_NO_PROGRAM = 127, EXIT_NO_FOLDER = 126 };

const char *const colours[COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#F0E442", "#000000"};
const char *const grey = "#999999";

const struct plot_picture plot_pictures[] = {
    {"latency", "share of slower requests over latency, per span, and the run-queue wait"},
    {"runq", "runnable goroutines over time: in all queues, in the global queue"},
    {"utilisation", "what the Ps did over time, stacked"},
    {"timeline", "which goroutine ran where: a lane per P"},
    {NULL, NULL},
};

static plot_fn *const functions[] = {plot_latency, plot_runq, plot_utilisation, plot_timeline};

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
    sqlite3_bind_int64(st, 1, p->args->run);
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

int plot_block(struct plot *p)
{
    if (p->blocks > 0)
        fputs("\n\n", p->dat);
    return p->blocks++;
}

const char *plot_quote(const char *text, char *buf, size_t size)
{
    size_t n = 0;
    buf[n++] = '\'';
    for (; *text != 0 && n + 4 < size; text++) {
        unsigned char ch = (unsigned char)*text;
        buf[n++] = ch < ' ' ? ' ' : (char)ch;
        if (ch == '\'')
            buf[n++] = '\'';
    }
    buf[n++] = '\'';
    buf[n] = 0;
    return buf;
}

void plot_title(struct plot *p, const char *what)
{
    char run[2 * sizeof p->title + 4];
    fprintf(p->gp, "set title '%s' . \"\\n\" . %s\n", what, plot_quote(p->title, run, sizeof run));
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

void plot_time_tics(struct plot *p, const char *axis, int64_t low_ns, int64_t high_ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "ks", "Ms"};
    const char *comma = "";
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

static void read_run(struct plot *p)
{
    sqlite3_stmt *st = plot_query(p, "SELECT scenario, profile, procs, cpus, quota_us, period_us,"
                                     " seed, makespan_ns, rules FROM runs WHERE id = ?1");
    if (st == NULL)
        return;
    if (sqlite3_step(st) == SQLITE_ROW) {
        int64_t quota = sqlite3_column_int64(st, 4);
        char cpus[40] = "dedicated CPUs", limit[80] = "";
        const char *rules = text_of(st, 8);
        p->procs = sqlite3_column_int(st, 2);
        p->makespan_ns = sqlite3_column_int64(st, 7);
        if (p->procs < 1 || p->makespan_ns < 0)
            plot_fail(p, "run %" PRId64 " is damaged", p->args->run);
        if (sqlite3_column_int(st, 3) > 0)
            snprintf(cpus, sizeof cpus, "%d CPUs", sqlite3_column_int(st, 3));
        if (quota > 0)
            snprintf(limit, sizeof limit, ", quota %.2f CPUs",
                     (double)quota / (double)sqlite3_column_int64(st, 5));
        snprintf(p->title, sizeof p->title, "%.100s — %s, GOMAXPROCS %d, %s%s%s%.60s, seed %s",
                 text_of(st, 0), text_of(st, 1), p->procs, cpus, limit, rules[0] != 0 ? ", " : "",
                 rules, text_of(st, 6));
    } else {
        plot_fail(p, "no run %" PRId64, p->args->run);
    }
    plot_done(p, st);
}

static void begin_script(struct plot *p, const char *out, bool png)
{
    const char *slash = strrchr(out, '/');
    char name[PATH_LEN + 8];
    fputs("# SPDX-License-Identifier: BSD-3-Clause\n# gnuplot 5.2 or newer\n", p->gp);
    if (png)
        fputs("set terminal pngcairo size 1200,700 font 'sans,13' noenhanced\n", p->gp);
    else
        fputs("set terminal svg size 1200,700 font 'sans,15' background 'white' noenhanced\n",
              p->gp);
    fprintf(p->gp,
            "set encoding utf8\nset output %s\n"
            "set border 3 lc rgb '#444444'\nset tics nomirror out\n"
            "set grid lc rgb '#dddddd' lw 1 lt 1\nset key noenhanced\n",
            plot_quote(slash != NULL ? slash + 1 : out, name, sizeof name));
}

/* "a/b.svg" with another ending. */
static void sibling(const char *out, const char *ending, char *buf, size_t size)
{
    snprintf(buf, size, "%.*s%s", (int)(strlen(out) - 4), out, ending);
}

/* Runs in the picture's folder, since the script names its files without folders. */
static void exec_gnuplot(char *gp)
{
    char *slash = strrchr(gp, '/');
    if (slash != NULL) {
        *slash = 0;
        if (chdir(*gp != 0 ? gp : "/") != 0)
            _exit(EXIT_NO_FOLDER);
        gp = slash + 1;
    }
    execlp("gnuplot", "gnuplot", gp, (char *)NULL);
    _exit(EXIT_NO_PROGRAM);
}

static enum plot_result run_gnuplot(char *gp, char *text)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        exec_gnuplot(gp);
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        snprintf(text, PLOT_TEXT_MAX, "gnuplot: %s", strerror(errno));
        return PLOT_FAILED;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return PLOT_DRAWN;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_PROGRAM) {
        snprintf(
            text, PLOT_TEXT_MAX,
            "gnuplot is not installed (Debian: apt install gnuplot-nox); %.300s is ready for it",
            gp);
        return PLOT_NO_GNUPLOT;
    }
    snprintf(text, PLOT_TEXT_MAX, "gnuplot %.400s failed", gp);
    return PLOT_FAILED;
}

static int find(const char *picture)
{
    for (int i = 0; plot_pictures[i].name != NULL; i++)
        if (strcmp(plot_pictures[i].name, picture) == 0)
            return i;
    return -1;
}

static void write_files(struct plot *p, int picture, const char *gp, const char *dat)
{
    bool png = strcmp(p->args->out + strlen(p->args->out) - 4, ".png") == 0;
    const char *slash = strrchr(dat, '/');
    p->dat_name = slash != NULL ? slash + 1 : dat;
    p->gp = fopen(gp, "w");
    p->dat = fopen(dat, "w");
    if (p->gp == NULL || p->dat == NULL) {
        plot_fail(p, "%s: %s", p->gp == NULL ? gp : dat, strerror(errno));
    } else {
        read_run(p);
        begin_script(p, p->args->out, png);
        if (!p->failed)
            functions[picture](p);
    }
    bool written = p->gp != NULL && p->dat != NULL && !ferror(p->gp) && !ferror(p->dat);
    if (p->gp != NULL && fclose(p->gp) != 0)
        written = false;
    if (p->dat != NULL && fclose(p->dat) != 0)
        written = false;
    if (!written)
        plot_fail(p, "%s: cannot be written: %s", gp, strerror(errno));
}

enum plot_result plot_draw(const struct plot_args *a, char text[PLOT_TEXT_MAX])
{
    char gp[PATH_LEN], dat[PATH_LEN];
    struct plot p = {.args = a, .text = text};
    int picture = find(a->picture);
    size_t n = strlen(a->out);
    if (picture < 0 || n < 5 || n > PATH_LEN - 8 ||
        (strcmp(a->out + n - 4, ".svg") != 0 && strcmp(a->out + n - 4, ".png") != 0)) {
        snprintf(text, PLOT_TEXT_MAX, "%s",
                 picture < 0 ? "no such picture" : "a picture's name ends with .svg or .png");
        return PLOT_FAILED;
    }
    sibling(a->out, ".gp", gp, sizeof gp);
    sibling(a->out, ".dat", dat, sizeof dat);
    write_files(&p, picture, gp, dat);
    return p.failed ? PLOT_FAILED : run_gnuplot(gp, text);
}
