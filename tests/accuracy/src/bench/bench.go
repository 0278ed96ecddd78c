// SPDX-License-Identifier: BSD-3-Clause

// Package bench is the shared harness of the scheduler-trace corpus programs.
//
// A program describes a FIXED amount of work (Size operations, each with a
// nominal CPU cost), the harness runs it once, measures the wall time of the
// measured part, and prints one JSON line on stdout.
//
// It only uses API that exists in Go 1.19 so that every toolchain of the
// corpus can build it.
package bench

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/trace"
	"sort"
	"syscall"
	"time"
)

// Config is what the flags say.
type Config struct {
	Size  int    // number of operations, program specific unit
	Conc  int    // concurrency (workers, clients, pairs, ...)
	DurUS int    // nominal CPU microseconds per operation
	Procs int    // GOMAXPROCS, 0 = leave as is
	Trace string // trace file, "" = tracing off
	Seed  uint64
	Tmp   string // scratch directory for programs that do file I/O
}

// Rec collects per-operation latencies (nanoseconds). Slots are preallocated
// and written by index, so recording needs no lock.
type Rec struct {
	Name string
	V    []int64
}

// NewRec returns a recorder with n slots.
func NewRec(name string, n int) *Rec { return &Rec{Name: name, V: make([]int64, n)} }

// Run is what a program hands to the harness: the measured part and, when it
// makes sense, latency recorders that are filled by it.
type Run struct {
	Do   func(ctx context.Context) (ops int64)
	Lat  []*Rec
	Note map[string]interface{}
	Done func()
}

// ItersPerMicro is the fixed conversion from nominal microseconds to Spin
// iterations. It is NOT calibrated at run time: the same number of iterations
// is executed on every machine and at every GOMAXPROCS.
const ItersPerMicro = 500

// Spin does n iterations of a dependent xorshift chain. No calls, no memory:
// only asynchronous preemption can interrupt it.
//
//go:noinline
func Spin(n int) uint64 {
	x := uint64(88172645463325252)
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// Work spins for us nominal microseconds.
func Work(us int) uint64 { return Spin(us * ItersPerMicro) }

// Vary gives a deterministic cost in [base/2, base*3/2] for operation i.
func Vary(seed uint64, i, base int) int {
	z := seed + uint64(i)*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	z ^= z >> 31
	if base < 2 {
		return base
	}
	return base/2 + int(z%uint64(base+1))
}

// Hash is the deterministic hash used by the programs to vary things.
func Hash(seed uint64, i int) uint64 {
	z := seed*0x9e3779b97f4a7c15 + uint64(i)*0xd1b54a32d192ed03 + 0x8cb92ba72f3d8dd7
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Sink keeps results alive.
var Sink uint64

type histOut struct {
	Count  uint64       `json:"count"`
	P50    float64      `json:"p50_ns"`
	P90    float64      `json:"p90_ns"`
	P99    float64      `json:"p99_ns"`
	Max    float64      `json:"max_bucket_ns"`
	Bucket [][3]float64 `json:"buckets"` // [lo_ns, hi_ns, count], only non-empty ones
}

type latOut struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	Mean int64  `json:"mean_ns"`
	P50  int64  `json:"p50_ns"`
	P90  int64  `json:"p90_ns"`
	P99  int64  `json:"p99_ns"`
	P999 int64  `json:"p999_ns"`
	Max  int64  `json:"max_ns"`
}

type out struct {
	Prog    string                 `json:"prog"`
	Go      string                 `json:"go"`
	Procs   int                    `json:"gomaxprocs"`
	NumCPU  int                    `json:"numcpu"`
	Size    int                    `json:"size"`
	Conc    int                    `json:"conc"`
	DurUS   int                    `json:"dur_us"`
	Seed    uint64                 `json:"seed"`
	Traced  bool                   `json:"traced"`
	WallNS  int64                  `json:"wall_ns"`
	Ops     int64                  `json:"ops"`
	UserNS  int64                  `json:"user_ns"`
	SysNS   int64                  `json:"sys_ns"`
	VCtx    int64                  `json:"vol_ctxsw"`
	ICtx    int64                  `json:"invol_ctxsw"`
	NumGC   uint32                 `json:"num_gc"`
	GCPause uint64                 `json:"gc_pause_ns"`
	OSRun   int64                  `json:"os_run_ns"`  // CPU time of all threads, from schedstat
	OSWait  int64                  `json:"os_wait_ns"` // time threads were runnable but had no CPU (OS run queue)
	Alloc   uint64                 `json:"alloc_bytes"`
	Sched   *histOut               `json:"sched_latencies"`
	Lat     []latOut               `json:"latencies,omitempty"`
	Note    map[string]interface{} `json:"note,omitempty"`
}

const schedMetric = "/sched/latencies:seconds"

func readSched() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: schedMetric}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s[0].Value.Float64Histogram()
	c := &metrics.Float64Histogram{}
	c.Counts = append(c.Counts, h.Counts...)
	c.Buckets = append(c.Buckets, h.Buckets...)
	return c
}

func histDelta(a, b *metrics.Float64Histogram) *histOut {
	if a == nil || b == nil {
		return nil
	}
	o := &histOut{Bucket: [][3]float64{}}
	for i := range b.Counts {
		d := b.Counts[i] - a.Counts[i]
		if d == 0 {
			continue
		}
		lo, hi := b.Buckets[i]*1e9, b.Buckets[i+1]*1e9
		if math.IsInf(lo, 0) || lo < 0 {
			lo = 0
		}
		if math.IsInf(hi, 0) {
			hi = lo
		}
		o.Bucket = append(o.Bucket, [3]float64{math.Round(lo), math.Round(hi), float64(d)})
		o.Count += d
	}
	q := func(p float64) float64 {
		if o.Count == 0 {
			return 0
		}
		want := p * float64(o.Count)
		sum := 0.0
		for _, b := range o.Bucket {
			if sum+b[2] >= want {
				return math.Round(b[0] + (b[1]-b[0])*(want-sum)/b[2])
			}
			sum += b[2]
		}
		return o.Bucket[len(o.Bucket)-1][1]
	}
	o.P50, o.P90, o.P99 = q(.5), q(.9), q(.99)
	if n := len(o.Bucket); n > 0 {
		o.Max = o.Bucket[n-1][1]
	}
	return o
}

func summarize(r *Rec) latOut {
	v := append([]int64(nil), r.V...)
	sort.Slice(v, func(i, j int) bool { return v[i] < v[j] })
	l := latOut{Name: r.Name, N: len(v)}
	if len(v) == 0 {
		return l
	}
	var sum int64
	for _, x := range v {
		sum += x
	}
	at := func(p float64) int64 {
		i := int(math.Ceil(p*float64(len(v)))) - 1
		if i < 0 {
			i = 0
		}
		return v[i]
	}
	l.Mean = sum / int64(len(v))
	l.P50, l.P90, l.P99, l.P999, l.Max = at(.5), at(.9), at(.99), at(.999), v[len(v)-1]
	return l
}

// osSched sums the kernel's per-thread accounting (run ns, run-queue wait ns).
func osSched() (run, wait int64) {
	d, err := os.Open("/proc/self/task")
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	d.Close()
	for _, n := range names {
		b, err := os.ReadFile("/proc/self/task/" + n + "/schedstat")
		if err != nil {
			continue
		}
		var r, w int64
		fmt.Sscan(string(b), &r, &w)
		run += r
		wait += w
	}
	return
}

func tv(t syscall.Timeval) int64 { return int64(t.Sec)*1e9 + int64(t.Usec)*1e3 }

// Main parses flags, sets the program up, runs it once and prints the result.
func Main(name string, def Config, setup func(c *Config) *Run) {
	c := def
	flag.IntVar(&c.Size, "size", def.Size, "number of operations (fixed work)")
	flag.IntVar(&c.Conc, "conc", def.Conc, "concurrency")
	flag.IntVar(&c.DurUS, "dur", def.DurUS, "nominal CPU duration of one operation, in microseconds")
	flag.IntVar(&c.Procs, "procs", 0, "GOMAXPROCS (0: as the environment says)")
	flag.StringVar(&c.Trace, "trace", "", "write a runtime/trace of the measured part to this file")
	flag.Uint64Var(&c.Seed, "seed", 1, "seed")
	flag.StringVar(&c.Tmp, "tmp", os.TempDir(), "scratch directory")
	flag.Parse()
	if c.Procs > 0 {
		runtime.GOMAXPROCS(c.Procs)
	}
	run := setup(&c)
	runtime.GC()
	runtime.GC()

	run0, wait0 := osSched()
	var f *os.File
	if c.Trace != "" {
		var err error
		if f, err = os.Create(c.Trace); err != nil {
			fatal(err)
		}
		if err = trace.Start(f); err != nil {
			fatal(err)
		}
	}
	var m0, m1 runtime.MemStats
	var r0, r1 syscall.Rusage
	ctx := context.Background()
	if c.Trace == "" {
		runtime.ReadMemStats(&m0)
	}
	s0 := readSched()
	syscall.Getrusage(syscall.RUSAGE_SELF, &r0)
	reg := trace.StartRegion(ctx, "measured")
	t0 := time.Now()
	ops := run.Do(ctx)
	wall := time.Since(t0)
	reg.End()
	syscall.Getrusage(syscall.RUSAGE_SELF, &r1)
	s1 := readSched()
	if c.Trace == "" {
		runtime.ReadMemStats(&m1)
	}
	if f != nil {
		trace.Stop()
		if err := f.Close(); err != nil {
			fatal(err)
		}
	}
	run1, wait1 := osSched()
	if run.Done != nil {
		run.Done()
	}
	o := out{
		Prog: name, Go: runtime.Version(), Procs: runtime.GOMAXPROCS(0), NumCPU: runtime.NumCPU(),
		Size: c.Size, Conc: c.Conc, DurUS: c.DurUS, Seed: c.Seed, Traced: f != nil,
		WallNS: wall.Nanoseconds(), Ops: ops,
		UserNS: tv(r1.Utime) - tv(r0.Utime), SysNS: tv(r1.Stime) - tv(r0.Stime),
		VCtx: r1.Nvcsw - r0.Nvcsw, ICtx: r1.Nivcsw - r0.Nivcsw,
		NumGC: m1.NumGC - m0.NumGC, GCPause: m1.PauseTotalNs - m0.PauseTotalNs, Alloc: m1.TotalAlloc - m0.TotalAlloc,
		OSRun: run1 - run0, OSWait: wait1 - wait0,
		Sched: histDelta(s0, s1), Note: run.Note,
	}
	for _, r := range run.Lat {
		o.Lat = append(o.Lat, summarize(r))
	}
	b, err := json.Marshal(&o)
	if err != nil {
		fatal(err)
	}
	fmt.Println(string(b))
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// Check panics on err; the programs are measurement tools, not services.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}
