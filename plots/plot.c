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
    TITLE_COLUMNS = 120
};

const char *const colours[COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#882255", "#000000"};

const struct plot_picture plot_pictures[] = {
    {"latency", "share of slower requests over latency, per span, and the run-queue wait", true},
    {"runq", "runnable goroutines over time: in all queues, in the global queue", false},
    {"utilisation", "what the Ps did over time, stacked", false},
    {"timeline", "which goroutine ran where: a lane per P", false},
    {NULL, NULL, false},
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

void plot_begin(struct plot *p, int height, const char *what, const char *more)
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
    fputs("\nset border 3 lc rgb '#444444'\nset tics nomirror out\n"
          "set grid lc rgb '#dddddd' lw 1 lt 1\nset key noenhanced\nset title ",
          p->gp);
    text_put(p->gp, TEXT_GNUPLOT, what);
    put_title_line(p, p->title);
    if (more[0] != 0)
        put_title_line(p, more);
    fputc('\n', p->gp);
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

static void describe(struct plot *p, sqlite3_stmt *st)
{
    int64_t quota = sqlite3_column_int64(st, 4);
    char cpus[40] = "dedicated CPUs", limit[80] = "";
    const char *rules = text_of(st, 8);
    p->procs = sqlite3_column_int(st, 2);
    p->makespan_ns = sqlite3_column_int64(st, 7);
    if (p->procs < 1 || p->makespan_ns < 0)
        plot_fail(p, "run %" PRId64 " is damaged", p->run);
    if (sqlite3_column_int(st, 3) > 0)
        snprintf(cpus, sizeof cpus, "%d CPUs", sqlite3_column_int(st, 3));
    if (quota > 0)
        snprintf(limit, sizeof limit, ", quota %.2f CPUs",
                 (double)quota / (double)sqlite3_column_int64(st, 5));
    snprintf(p->title, sizeof p->title, "%s — %s, GOMAXPROCS %d, %s%s%s%s, seed %s",
             text_cut(text_of(st, 0), 50), text_cut(text_of(st, 1), 10), p->procs, cpus, limit,
             rules[0] != 0 ? ", " : "", text_cut(rules, 40), text_cut(text_of(st, 6), 20));
}

void plot_read_run(struct plot *p, int64_t run)
{
    p->run = run;
    sqlite3_stmt *st = plot_query(p, "SELECT scenario, profile, procs, cpus, quota_us, period_us,"
                                     " seed, makespan_ns, rules FROM runs WHERE id = ?1");
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

/* Its first words of weight. */
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
    if (a->nruns > 1 && !plot_pictures[picture].compares)
        return "this picture shows one run; latency compares several";
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
    sibling(a->out, ".gp", gp, sizeof gp);
    sibling(a->out, ".dat", dat, sizeof dat);
    write_files(&p, picture, gp, dat);
    enum plot_result r = p.failed ? PLOT_FAILED : run_gnuplot(gp, text);
    if (r != PLOT_DRAWN)
        remove_empty(a->out);
    return r;
}
