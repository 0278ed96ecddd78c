/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits Go's sources by text: what is looked for is a whole line, so that a release that differs is
 * noticed and not misunderstood. The code that logs is made from the release's own trace_userLog,
 * for its inner interface changes. */
#include "cli/overlay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { PATH_LEN = 4096, SOURCE_MAX = 8 << 20 };

enum edit_how { AFTER, WRAP };

static const struct edit {
    const char *file;
    enum edit_how how;
    const char *what, *code;
} edits[] = {
#define EDIT(file, how, what, code) {file, how, what, code},
#include "cli/overlay.def"
#undef EDIT
};
enum { EDITS = sizeof edits / sizeof *edits };

struct files {
    const struct overlay_opts *o;
    struct failure *f;
    FILE *json;
    int count;
};

/* ---- files ---- */

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return NULL;
    char *text = x_alloc(SOURCE_MAX + 1);
    size_t n = fread(text, 1, SOURCE_MAX, in);
    fclose(in);
    text[n] = 0;
    return text;
}

static bool write_text(struct failure *f, const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    bool ok = out != NULL && fputs(text, out) >= 0;
    if (out != NULL && fclose(out) != 0)
        ok = false;
    if (!ok)
        fail(f, E_IO, "%s: cannot write: %s", path, strerror(errno));
    return ok;
}

/* The source at `place` is to be read from our copy. */
static bool replace(struct files *s, const char *place, const char *text)
{
    char copy[PATH_LEN], a[PATH_LEN * 2], b[PATH_LEN * 2];
    snprintf(copy, sizeof copy, "%s/%d.go", s->o->dir, s->count);
    if (!write_text(s->f, copy, text))
        return false;
    fprintf(s->json, "%s\n%s: %s", s->count > 0 ? "," : "", text_in(a, sizeof a, TEXT_JSON, place),
            text_in(b, sizeof b, TEXT_JSON, copy));
    s->count++;
    return true;
}

/* ---- text ---- */

static char *splice(char *text, size_t at, size_t cut, const char *put)
{
    size_t size = strlen(text) - cut + strlen(put) + 1;
    char *out = x_alloc(size);
    snprintf(out, size, "%.*s%s%s", (int)at, text, put, text + at + cut);
    free(text);
    return out;
}

/* Where the name begins in "func name(" or "func (r *T) name(". */
static size_t name_in(const char *head)
{
    size_t at = strlen("func ");
    if (head[at] == '(')
        at += strcspn(head + at, ")") + 2;
    return at;
}

/* The new function, and the old one's head under its new name. */
static char *wrapped(const struct edit *e)
{
    size_t name = name_in(e->what), room = 2 * strlen(e->what) + strlen(e->code) + 64;
    char *out = x_alloc(room);
    snprintf(out, room, "%s%s}\n\n%.*sgmpsim0%s", e->what, e->code, (int)name, e->what,
             e->what + name);
    return out;
}

static char *apply(struct failure *f, char *text, const struct edit *e, const char *path)
{
    char *at = strstr(text, e->what);
    if (at == NULL) {
        fail(f, E_IO, "%s: no line \"%.*s\": this Go release is not known", path,
             (int)strcspn(e->what, "\n"), e->what);
        free(text);
        return NULL;
    }
    size_t where = (size_t)(at - text), length = strlen(e->what);
    if (e->how == AFTER)
        return splice(text, where + length, 0, e->code);
    char *put = wrapped(e);
    text = splice(text, where, length, put);
    free(put);
    return text;
}

/* All edits of one file, which are next to each other. */
static bool edit_file(struct files *s, int first, int *next)
{
    char path[PATH_LEN];
    snprintf(path, sizeof path, "%s/src/%s", s->o->goroot, edits[first].file);
    char *text = read_text(path);
    for (*next = first; *next < EDITS && strcmp(edits[*next].file, edits[first].file) == 0;) {
        const struct edit *e = &edits[(*next)++];
        if (text != NULL && (text = apply(s->f, text, e, path)) == NULL)
            return false;
    }
    bool ok = text == NULL || replace(s, path, text);
    free(text);
    return ok;
}

/* ---- what is added ---- */

static const char in_package[] =
    "package %s\n\nimport \"unsafe\"\n\n"
    "//go:linkname gmpsimLog\n//go:noescape\nfunc gmpsimLog(p unsafe.Pointer, op byte)\n\n"
    "//go:linkname gmpsimLogN\n//go:noescape\nfunc gmpsimLogN(p unsafe.Pointer, op byte, n "
    "int64)\n";

static const char in_sync[] =
    "\nfunc gmpsimOnce(o *Once, op byte) { gmpsimLog(unsafe.Pointer(o), op) }\n";

static const char in_time[] =
    "\nfunc gmpsimTimer(c <-chan Time, op byte, d Duration) {\n"
    "\tgmpsimLogN(*(*unsafe.Pointer)(unsafe.Pointer(&c)), op, int64(d))\n}\n\n"
    "func gmpsimPlace(t *Timer) unsafe.Pointer {\n\tif t.C != nil {\n"
    "\t\treturn *(*unsafe.Pointer)(unsafe.Pointer(&t.C))\n\t}\n\treturn unsafe.Pointer(t)\n}\n\n"
    "func gmpsimAfterFunc(t *Timer, d Duration) { gmpsimLogN(unsafe.Pointer(t), 'a', int64(d)) }\n"
    "func gmpsimStop(t *Timer) { gmpsimLogN(gmpsimPlace(t), 'y', 0) }\n"
    "func gmpsimReset(t *Timer, d Duration) { gmpsimLogN(gmpsimPlace(t), 'Y', int64(d)) }\n";

/* Both ends of a connection, or of a pipe, give what flows from one to the other the same number:
 * of the two addresses, or of the pipe's inode. What cannot be numbered is 0. */
static const char in_poll[] =
    "package poll\n\nimport (\n\t\"sync/atomic\"\n\t\"syscall\"\n\t_ \"unsafe\"\n)\n\n"
    "//go:linkname gmpsimOn\nfunc gmpsimOn() bool\n\n"
    "//go:linkname gmpsimLogID\nfunc gmpsimLogID(id uint64, op byte, n int64)\n\n"
    "type gmpsimEnds struct{ in, out atomic.Uint64 } // in: 0 not looked at yet, 1 none\n\n"
    "func gmpsimNumber(parts ...[]byte) uint64 {\n\th := uint64(14695981039346656037)\n"
    "\tfor _, p := range parts {\n\t\tfor _, c := range p {\n"
    "\t\t\th = (h ^ uint64(c)) * 1099511628211\n\t\t}\n\t}\n\treturn h>>17 | 1<<47\n}\n\n"
    "func gmpsimAddress(sa syscall.Sockaddr) []byte {\n\tvar ip [16]byte\n\tport := 0\n"
    "\tswitch a := sa.(type) {\n\tcase *syscall.SockaddrInet4:\n"
    "\t\tip[10], ip[11] = 0xff, 0xff\n\t\tcopy(ip[12:], a.Addr[:])\n\t\tport = a.Port\n"
    "\tcase *syscall.SockaddrInet6:\n\t\tip = a.Addr\n\t\tport = a.Port\n"
    "\tdefault:\n\t\treturn nil\n\t}\n"
    "\treturn append(ip[:], byte(port>>8), byte(port))\n}\n\n"
    "func (fd *FD) gmpsimLook() (in, out uint64) {\n\tvar st syscall.Stat_t\n"
    "\tif syscall.Fstat(fd.Sysfd, &st) != nil {\n\t\treturn 0, 0\n\t}\n"
    "\tswitch st.Mode & syscall.S_IFMT {\n\tcase syscall.S_IFIFO:\n\t\tvar b [8]byte\n"
    "\t\tfor i := range b {\n\t\t\tb[i] = byte(uint64(st.Ino) >> (8 * uint(i)))\n\t\t}\n"
    "\t\tn := gmpsimNumber(b[:])\n\t\treturn n, n\n"
    "\tcase syscall.S_IFSOCK:\n\t\there, err := syscall.Getsockname(fd.Sysfd)\n"
    "\t\tif err != nil {\n\t\t\treturn 0, 0\n\t\t}\n"
    "\t\tthere, err := syscall.Getpeername(fd.Sysfd)\n"
    "\t\tif err != nil {\n\t\t\treturn 0, 0\n\t\t}\n"
    "\t\ta, b := gmpsimAddress(here), gmpsimAddress(there)\n"
    "\t\tif a != nil && b != nil {\n\t\t\treturn gmpsimNumber(b, a), gmpsimNumber(a, b)\n\t\t}\n"
    "\t}\n\treturn 0, 0\n}\n\n"
    "func (fd *FD) gmpsimFind() (in, out uint64) {\n\tif !gmpsimOn() {\n\t\treturn 0, 0\n\t}\n"
    "\te := &fd.gmpsim\n\tif in = e.in.Load(); in == 0 {\n\t\tin, out = fd.gmpsimLook()\n"
    "\t\te.out.Store(out)\n\t\tif in == 0 {\n\t\t\tin = 1\n\t\t}\n\t\te.in.Store(in)\n\t}\n"
    "\tif in == 1 {\n\t\treturn 0, 0\n\t}\n\treturn in, e.out.Load()\n}\n";

/* %s: imports, the line that writes the event, the prefix of its number's name, how a function is
 * called at the end.
 *
 * What an event takes is the clock (half of it) and little else: strings are looked up once in a
 * generation (gmpsimNames: of the category, which is 0, and of each operation its generation and
 * its number in it), stacks are the innermost frames and looked up in a table per P. What a select
 * could take is written with it, at one time. A number of 16 bits stands above the address; else
 * it is in the text. Nobody needs the stack of the operations that are left out there: most follow
 * one that has said where the goroutine is. Frame pointers are pointers until they are read, for a
 * stack may move. */
static const char in_runtime[] =
    "package runtime\n"
    "\n"
    "import (\n"
    "%s\t\"internal/goarch\"\n"
    "\t\"unsafe\"\n"
    ")\n"
    "\n"
    "const (\n"
    "\tgmpsimHalf   = goarch.PtrSize * 4\n"
    "\tgmpsimFrames = 6\n"
    "\tgmpsimPs     = 64\n"
    ")\n"
    "\n"
    "var gmpsimNames [2][128]uintptr\n"
    "\n"
    "func gmpsimName(tl traceLocker, op byte) traceArg {\n"
    "\tplace := &gmpsimNames[tl.gen%%2][op%%128]\n"
    "\tif v := atomic.Loaduintptr(place); v>>gmpsimHalf == tl.gen&(1<<gmpsimHalf-1) {\n"
    "\t\treturn traceArg(v & (1<<gmpsimHalf - 1))\n"
    "\t}\n"
    "\treturn gmpsimNewName(tl, op, place)\n"
    "}\n"
    "\n"
    "//go:noinline\n"
    "func gmpsimNewName(tl traceLocker, op byte, place *uintptr) traceArg {\n"
    "\ttext, letter := \"gmpsim2\", [1]byte{op}\n"
    "\tif op != 0 {\n"
    "\t\ttext = unsafe.String((*byte)(noescape(unsafe.Pointer(&letter))), 1)\n"
    "\t}\n"
    "\tid := tl.string(text)\n"
    "\tif id>>gmpsimHalf == 0 {\n"
    "\t\tatomic.Storeuintptr(place, tl.gen<<gmpsimHalf|uintptr(id))\n"
    "\t}\n"
    "\treturn id\n"
    "}\n"
    "\n"
    "type gmpsimSite struct {\n"
    "\thash uint64\n"
    "\tid   uintptr\n"
    "}\n"
    "\n"
    "var gmpsimSites [gmpsimPs][512]gmpsimSite\n"
    "\n"
    "var gmpsimOdd = [1 + gmpsimFrames]uint64{0, 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9,\n"
    "\t0x94d049bb133111eb, 0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db}\n"
    "\n"
    "func gmpsimStack(tl traceLocker, fp unsafe.Pointer) traceArg {\n"
    "\tif tracefpunwindoff() || tl.mp.hasCgoOnStack() {\n"
    "\t\treturn tl.stack(3)\n"
    "\t}\n"
    "\tvar pcs [1 + gmpsimFrames]uintptr\n"
    "\thash, n := uint64(0), 1\n"
    "\tfor ; n < len(pcs) && fp != nil; n++ {\n"
    "\t\tpcs[n] = *(*uintptr)(unsafe.Pointer(uintptr(fp) + goarch.PtrSize))\n"
    "\t\thash += uint64(pcs[n]) * gmpsimOdd[n]\n"
    "\t\tfp = unsafe.Pointer(*(*uintptr)(fp))\n"
    "\t}\n"
    "\tpp := tl.mp.p.ptr()\n"
    "\tif pp == nil || pp.id >= gmpsimPs {\n"
    "\t\treturn gmpsimPut(tl, pcs[:n])\n"
    "\t}\n"
    "\tsite := &gmpsimSites[pp.id][hash>>55]\n"
    "\tif site.hash != hash || site.id>>gmpsimHalf != tl.gen&(1<<gmpsimHalf-1) {\n"
    "\t\tid := gmpsimPut(tl, pcs[:n])\n"
    "\t\tif id>>gmpsimHalf != 0 {\n"
    "\t\t\treturn id\n"
    "\t\t}\n"
    "\t\t*site = gmpsimSite{hash, tl.gen<<gmpsimHalf | uintptr(id)}\n"
    "\t}\n"
    "\treturn traceArg(site.id & (1<<gmpsimHalf - 1))\n"
    "}\n"
    "\n"
    "//go:noinline\n"
    "func gmpsimPut(tl traceLocker, pcs []uintptr) traceArg {\n"
    "\treturn traceArg(trace.stackTab[tl.gen%%2].put(pcs))\n"
    "}\n"
    "\n"
    "func gmpsimWrite(tl traceLocker, fp unsafe.Pointer, id uint64, op byte, name traceArg) {\n"
    "\tstack := traceArg(0)\n"
    "\tswitch op {\n"
    "\tcase 'S', 'l', 'o', 'f', 'k', 'n', 'F', 'G', 'H':\n"
    "\tdefault:\n"
    "\t\tstack = gmpsimStack(tl, fp)\n"
    "\t}\n"
    "%s}\n"
    "\n"
    "//go:nosplit\n"
    "func gmpsimAlso(tl traceLocker, id uint64, name, category traceArg) {\n"
    "\tw := tl.writer()\n"
    "\tw, _ = w.ensure(1 + 5*traceBytesPerNumber)\n"
    "\tw.byte(byte(%sEvUserLog))\n"
    "\tw.varint(0)\n"
    "\tw.varint(id)\n"
    "\tw.varint(uint64(category))\n"
    "\tw.varint(uint64(name))\n"
    "\tw.varint(0)\n"
    "\tw.end()\n"
    "}\n"
    "\n"
    "func gmpsimAcquire() traceLocker {\n"
    "\tif gp := getg(); gp.m.curg != gp {\n"
    "\t\treturn traceLocker{}\n"
    "\t}\n"
    "\treturn traceAcquire()\n"
    "}\n"
    "\n"
    "func gmpsimEvent(fp unsafe.Pointer, id uint64, op byte) {\n"
    "\tif tl := gmpsimAcquire(); tl.ok() {\n"
    "\t\tgmpsimWrite(tl, fp, id, op, gmpsimName(tl, op))\n"
    "\t\ttraceRelease(tl)\n"
    "\t}\n"
    "}\n"
    "\n"
    "func gmpsimText(fp unsafe.Pointer, id uint64, op byte, n int64) {\n"
    "\tvar buf [24]byte\n"
    "\tat := len(buf)\n"
    "\tu := uint64(n)\n"
    "\tif n < 0 {\n"
    "\t\tu = -u\n"
    "\t}\n"
    "\tfor {\n"
    "\t\tat--\n"
    "\t\tbuf[at] = byte('0' + u%%10)\n"
    "\t\tu /= 10\n"
    "\t\tif u == 0 {\n"
    "\t\t\tbreak\n"
    "\t\t}\n"
    "\t}\n"
    "\tif n < 0 {\n"
    "\t\tat--\n"
    "\t\tbuf[at] = '-'\n"
    "\t}\n"
    "\tat--\n"
    "\tbuf[at] = op\n"
    "\tif tl := gmpsimAcquire(); tl.ok() {\n"
    "\t\ttext := unsafe.String((*byte)(noescape(unsafe.Pointer(&buf[at]))), len(buf)-at)\n"
    "\t\tgmpsimWrite(tl, fp, id, op, tl.string(text))\n"
    "\t\ttraceRelease(tl)\n"
    "\t}\n"
    "}\n"
    "\n"
    "func gmpsimWith(id uint64, n int64) uint64 { return id&(1<<48-1) | uint64(n)<<48 }\n"
    "\n"
    "func gmpsimLogN(fp unsafe.Pointer, id uint64, op byte, n int64) {\n"
    "\tif n == int64(int16(n)) {\n"
    "\t\tgmpsimEvent(fp, gmpsimWith(id, n), op)\n"
    "\t} else {\n"
    "\t\tgmpsimText(fp, id, op, n)\n"
    "\t}\n"
    "}\n"
    "\n"
    "func gmpsimNumber(op byte, n int64) {\n"
    "\tif traceEnabled() {\n"
    "\t\tgmpsimEvent(unsafe.Pointer(getfp()), uint64(n), op)\n"
    "\t}\n"
    "}\n"
    "\n"
    "func gmpsimChan(c *hchan, op byte) {\n"
    "\tif !traceEnabled() {\n"
    "\t\treturn\n"
    "\t}\n"
    "\tif c == nil {\n"
    "\t\tgmpsimEvent(unsafe.Pointer(getfp()), 0, op)\n"
    "\t\treturn\n"
    "\t}\n"
    "\tgmpsimLogN(unsafe.Pointer(getfp()), uint64(uintptr(unsafe.Pointer(c))), op, "
    "int64(c.dataqsiz))\n"
    "}\n"
    "\n"
    "func gmpsimProcs(n int) {\n"
    "\tif n > 0 || !traceEnabled() {\n"
    "\t\treturn\n"
    "\t}\n"
    "\tvar pcs [1]uintptr\n"
    "\tcallers(2, pcs[:])\n"
    "\tif f := findfunc(pcs[0]); f.valid() {\n"
    "\t\tname := funcname(f)\n"
    "\t\tif len(name) > 5 && name[:5] == \"sync.\" {\n"
    "\t\t\treturn\n"
    "\t\t}\n"
    "\t}\n"
    "\tgmpsimEvent(unsafe.Pointer(getfp()), 0, 'P')\n"
    "}\n"
    "\n"
    "func gmpsimCase(c *hchan) uint64 {\n"
    "\tif c == nil {\n"
    "\t\treturn 0\n"
    "\t}\n"
    "\treturn gmpsimWith(uint64(uintptr(unsafe.Pointer(c))), int64(min(c.dataqsiz, 1<<15-1)))\n"
    "}\n"
    "\n"
    "func gmpsimSelect(cas0 *scase, nsends, nrecvs int, block bool) {\n"
    "\ttl := gmpsimAcquire()\n"
    "\tif !tl.ok() {\n"
    "\t\treturn\n"
    "\t}\n"
    "\tn := nsends + nrecvs\n"
    "\tgmpsimWrite(tl, unsafe.Pointer(getfp()), uint64(n), 'Q', gmpsimName(tl, 'Q'))\n"
    "\tcategory, op := gmpsimName(tl, 0), gmpsimName(tl, 'q')\n"
    "\tfor i, c := range (*[1 << 16]scase)(unsafe.Pointer(cas0))[:n:n] {\n"
    "\t\tif i == nsends {\n"
    "\t\t\top = gmpsimName(tl, 'p')\n"
    "\t\t}\n"
    "\t\tgmpsimAlso(tl, gmpsimCase(c.c), op, category)\n"
    "\t}\n"
    "\tif !block {\n"
    "\t\tgmpsimAlso(tl, 0, gmpsimName(tl, 'd'), category)\n"
    "\t}\n"
    "\ttraceRelease(tl)\n"
    "}\n"
    "\n"
    "//go:linkname sync_gmpsimLog sync.gmpsimLog\n"
    "func sync_gmpsimLog(p unsafe.Pointer, op byte) {\n"
    "\tif traceEnabled() {\n"
    "\t\tgmpsimEvent(unsafe.Pointer(getfp()), uint64(uintptr(p)), op)\n"
    "\t}\n"
    "}\n"
    "\n"
    "//go:linkname isync_gmpsimLog internal/sync.gmpsimLog\n"
    "func isync_gmpsimLog(p unsafe.Pointer, op byte) {\n"
    "\tif traceEnabled() {\n"
    "\t\tgmpsimEvent(unsafe.Pointer(getfp()), uint64(uintptr(p)), op)\n"
    "\t}\n"
    "}\n"
    "\n"
    "//go:linkname sync_gmpsimLogN sync.gmpsimLogN\n"
    "func sync_gmpsimLogN(p unsafe.Pointer, op byte, n int64) {\n"
    "\tif traceEnabled() {\n"
    "\t\tgmpsimLogN(unsafe.Pointer(getfp()), uint64(uintptr(p)), op, n)\n"
    "\t}\n"
    "}\n"
    "\n"
    "//go:linkname time_gmpsimLogN time.gmpsimLogN\n"
    "func time_gmpsimLogN(p unsafe.Pointer, op byte, n int64) {\n"
    "\tif traceEnabled() {\n"
    "\t\tgmpsimLogN(unsafe.Pointer(getfp()), uint64(uintptr(p)), op, n)\n"
    "\t}\n"
    "}\n"
    "\n"
    "//go:linkname poll_gmpsimOn internal/poll.gmpsimOn\n"
    "func poll_gmpsimOn() bool { return traceEnabled() }\n"
    "\n"
    "//go:linkname poll_gmpsimLogID internal/poll.gmpsimLogID\n"
    "func poll_gmpsimLogID(id uint64, op byte, n int64) {\n"
    "\tgmpsimLogN(unsafe.Pointer(getfp()), id, op, n)\n"
    "}\n"
    "\n"
    "//go:linkname trace_gmpsimAtExit runtime/trace.gmpsimAtExit\n"
    "func trace_gmpsimAtExit(f func()) { %s }\n";

/* The trace begins when package main is about to begin, and ends when the process does or when
 * GMPSIM_FOR is over. What the kernel says of the threads is kept beside it. */
static const char in_trace[] =
    "package trace\n\nimport (\n\t\"os\"\n\t\"sync\"\n\t\"time\"\n\t_ \"unsafe\"\n)\n\n"
    "//go:linkname gmpsimAtExit\nfunc gmpsimAtExit(f func())\n\n"
    "func gmpsimSchedstat(out *os.File, when string) {\n"
    "\tdir, err := os.Open(\"/proc/self/task\")\n\tif err != nil {\n\t\treturn\n\t}\n"
    "\tnames, _ := dir.Readdirnames(-1)\n\tdir.Close()\n"
    "\tfor _, n := range names {\n"
    "\t\tif b, err := os.ReadFile(\"/proc/self/task/\" + n + \"/schedstat\"); err == nil {\n"
    "\t\t\tout.WriteString(when + \" \" + n + \" \" + string(b))\n\t\t}\n\t}\n}\n\n"
    "var gmpsimRecording bool\n\n"
    "func gmpsimOwn() {\n\tif gmpsimRecording {\n"
    "\t\tos.Stderr.WriteString(\"gmpsim: the program starts a trace of its own, and gets an error: "
    "it \" +\n"
    "\t\t\t\"is being recorded\\n\")\n\t}\n}\n\n"
    "func GmpsimRecord() {\n"
    "\tpath := os.Getenv(\"GMPSIM_TRACE\")\n\tif path == \"\" {\n\t\treturn\n\t}\n"
    "\tos.Unsetenv(\"GMPSIM_TRACE\")\n"
    "\tf, err := os.Create(path)\n\tif err != nil {\n"
    "\t\tos.Stderr.WriteString(\"gmpsim: \" + err.Error() + \"\\n\")\n\t\treturn\n\t}\n"
    "\tstat, _ := os.Create(path + \".threads\")\n"
    "\tgmpsimSchedstat(stat, \"begin\")\n"
    "\tif err := Start(f); err != nil {\n"
    "\t\tos.Stderr.WriteString(\"gmpsim: \" + err.Error() + \"\\n\")\n\t\treturn\n\t}\n"
    "\tgmpsimRecording = true\n\tvar once sync.Once\n"
    "\tstop := func() {\n\t\tonce.Do(func() {\n\t\t\tgmpsimRecording = "
    "false\n\t\t\tStop()\n\t\t\tf.Close()\n"
    "\t\t\tgmpsimSchedstat(stat, \"end\")\n\t\t\tstat.Close()\n\t\t})\n\t}\n"
    "\tif d, err := time.ParseDuration(os.Getenv(\"GMPSIM_FOR\")); err == nil && d > 0 {\n"
    "\t\tgo func() {\n\t\t\ttime.Sleep(d)\n\t\t\tstop()\n"
    "\t\t\tif os.Getenv(\"GMPSIM_THEN\") == \"exit\" {\n\t\t\t\tos.Exit(0)\n\t\t\t}\n\t\t}()\n\t}\n"
    "\tgmpsimAtExit(stop)\n}\n";

static const char in_main[] = "package main\n\nimport gmpsimTrace \"runtime/trace\"\n\n"
                              "func init() { gmpsimTrace.GmpsimRecord() }\n";

static bool add(struct files *s, const char *file, const char *text)
{
    char path[PATH_LEN];
    snprintf(path, sizeof path, "%.2000s/src/%.2000s", s->o->goroot, file);
    return replace(s, path, text);
}

static bool add_package(struct files *s, const char *folder, const char *name, const char *more)
{
    char path[PATH_LEN], text[4096], head[2048];
    struct stat st;
    snprintf(path, sizeof path, "%s/src/%s", s->o->goroot, folder);
    if (stat(path, &st) != 0)
        return true; /* the release has no such package */
    snprintf(head, sizeof head, in_package, name);
    snprintf(text, sizeof text, "%s%s", head, more);
    snprintf(path, sizeof path, "%s/gmpsim.go", folder);
    return add(s, path, text);
}

/* The line of trace_userLog that writes the event, for our own arguments. */
static char *event_line(struct files *s)
{
    static const char *const where[] = {"traceruntime.go", "trace2runtime.go", NULL};
    for (int i = 0; where[i] != NULL; i++) {
        char path[PATH_LEN];
        snprintf(path, sizeof path, "%s/src/runtime/%s", s->o->goroot, where[i]);
        char *text = read_text(path),
             *fn = text != NULL ? strstr(text, "func trace_userLog(") : NULL;
        char *at = fn != NULL ? strstr(fn, "\ttl.eventWriter(") : NULL;
        if (at != NULL) {
            char *line = x_alloc(SOURCE_MAX > 4096 ? 4096 : SOURCE_MAX);
            snprintf(line, 4096, "%.*s", (int)strcspn(at, "\n") + 1, at);
            free(text);
            return line;
        }
        free(text);
    }
    fail(s->f, E_IO, "%s/src/runtime: no trace_userLog: this Go release is not known",
         s->o->goroot);
    return NULL;
}

static char *swap(char *line, const char *was, const char *is)
{
    char *at = strstr(line, was);
    return at != NULL ? splice(line, (size_t)(at - line), strlen(was), is) : line;
}

static bool add_runtime(struct files *s)
{
    char path[PATH_LEN], imports[200], text[16384];
    struct stat st;
    char *line = event_line(s);
    if (line == NULL)
        return false;
    line = swap(line, "tl.string(category)", "gmpsimName(tl, 0)");
    line = swap(line, "tl.uniqueString(message)", "name");
    line = swap(line, "tl.stack(3)", "stack");
    snprintf(path, sizeof path, "%s/src/internal/runtime/exithook", s->o->goroot);
    bool hooks = stat(path, &st) == 0, tracev2 = strstr(line, "tracev2.") != NULL;
    snprintf(path, sizeof path, "%s/src/internal/runtime/atomic", s->o->goroot);
    snprintf(imports, sizeof imports, "\t\"%s/atomic\"\n%s%s",
             stat(path, &st) == 0 ? "internal/runtime" : "runtime/internal",
             hooks ? "\t\"internal/runtime/exithook\"\n" : "",
             tracev2 ? "\t\"internal/trace/tracev2\"\n" : "");
    snprintf(text, sizeof text, in_runtime, imports, line, tracev2 ? "tracev2." : "trace",
             hooks ? "exithook.Add(exithook.Hook{F: f, RunOnFailure: true})"
                   : "addExitHook(f, true)");
    free(line);
    return add(s, "runtime/gmpsim.go", text);
}

static bool add_all(struct files *s)
{
    char path[PATH_LEN];
    bool ok = add_runtime(s) && add(s, "runtime/trace/gmpsim_record.go", in_trace);
    if (ok && s->o->main_dir != NULL) {
        snprintf(path, sizeof path, "%s/" OVERLAY_MAIN, s->o->main_dir);
        ok = replace(s, path, in_main);
    }
    if (ok && s->o->deep)
        ok = add_package(s, "sync", "sync", in_sync) &&
             add_package(s, "internal/sync", "sync", "") &&
             add_package(s, "time", "time", in_time) && add(s, "internal/poll/gmpsim.go", in_poll);
    return ok;
}

/* Where Mutex lies decides which of the two files its edits are for. */
static bool is_elsewhere(const struct files *s, int i)
{
    char path[PATH_LEN];
    struct stat st;
    if (strcmp(edits[i].file, "sync/mutex.go") != 0)
        return false;
    snprintf(path, sizeof path, "%s/src/internal/sync/mutex.go", s->o->goroot);
    return stat(path, &st) == 0;
}

bool overlay_write(struct failure *f, const struct overlay_opts *o)
{
    char path[PATH_LEN];
    struct files s = {.o = o, .f = f};
    snprintf(path, sizeof path, "%s/overlay.json", o->dir);
    s.json = fopen(path, "wb");
    if (s.json == NULL) {
        fail(f, E_IO, "%s: cannot write: %s", path, strerror(errno));
        return false;
    }
    fputs("{\"Replace\": {", s.json);
    bool ok = add_all(&s);
    for (int i = 0, next; ok && o->deep && i < EDITS; i = next)
        if (is_elsewhere(&s, i))
            next = i + 1;
        else
            ok = edit_file(&s, i, &next);
    fputs("\n}}\n", s.json);
    if (fclose(s.json) != 0)
        ok = false;
    return ok;
}
