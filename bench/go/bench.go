// SPDX-License-Identifier: BSD-3-Clause
//
// What the simulator's benchmarks are compared with: the same work in real Go.
//
//	bench [-n FACTOR] [-ops N] [-procs N] [-reps N] [NAME...]
//	bench -parked COUNT
//
// Each benchmark prints one line: name, ns of CPU time per operation, operations,
// CPU ns in total, ns of wall time per operation. The middle of five repetitions
// (or so many) counts. What one operation is stands in the table below.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"syscall"
	"time"
)

type benchmark struct {
	name  string
	procs int
	ops   int // how many operations a repetition has
	what  string
	run   func(ops int)
}

var benchmarks = []benchmark{
	{"pingpong_p1", 1, 1000000, "one hop of an unbuffered ping-pong", pingpong},
	{"gosched_2_p1", 1, 2000000, "one Gosched of 2 goroutines", gosched(2)},
	{"gosched_100_p1", 1, 2000000, "one Gosched of 100 goroutines", gosched(100)},
	{"gosched_1e4_p1", 1, 2000000, "one Gosched of 10000 goroutines", gosched(10000)},
	{"gosched_1e5_p1", 1, 2000000, "one Gosched of 100000 goroutines", gosched(100000)},
	{"spawn_exit_p1", 1, 500000, "start a goroutine and wait for its end", spawnExit},
	{"pingpong_32_p2", 2, 1000000, "one hop of 32 ping-pong pairs", pingpong32},
	{"fanout_1e4_p1", 1, 200000, "one goroutine of a WaitGroup fan-out of 10000", fanout},
	{"fanout_1e4_p2", 2, 200000, "the same at procs=2", fanout},
	{"worker_pool_p1", 1, 1000000, "one job through 8 workers and a buffer of 128", workerPool},
	{"worker_pool_p2", 2, 1000000, "the same at procs=2", workerPool},
	{"mutex_handoff_p1", 1, 500000, "lock, Gosched inside, unlock by 2 goroutines", mutexHandoff},
	{"sleep_storm_1e4_p1", 1, 100000, "one Sleep of 1 ms of 10000 goroutines", sleepStorm},
	{"sleep_storm_1e4_p2", 2, 100000, "the same at procs=2", sleepStorm},
	{"steal_storm_p2", 2, 400000, "one goroutine started on one P, run anywhere", stealStorm},
	{"steal_storm_p8", 8, 400000, "the same at procs=8", stealStorm},
	{"steal_storm_p64", 64, 400000, "the same at procs=64", stealStorm},
}

func main() {
	factor := flag.Float64("n", 1, "multiply the number of operations by this")
	ops := flag.Int("ops", 0, "so many operations of each")
	procs := flag.Int("procs", 0, "GOMAXPROCS (default: the benchmark's)")
	n := flag.Int("parked", 0, "measure the memory of so many parked goroutines instead")
	flag.IntVar(&repetitions, "reps", 5, "repetitions")
	flag.Parse()
	if *n > 0 {
		parked(*n, flag.Args())
		return
	}
	debug.SetGCPercent(-1)
	if *procs > 0 {
		benchmarks = each(benchmarks, *procs)
		exact = true
	}
	fmt.Printf("# %s, %d CPUs, CPU time, median of %d\n", runtime.Version(), runtime.NumCPU(), repetitions)
	fmt.Printf("# name ns_per_op ops cpu_ns wall_ns_per_op\n")
	for _, b := range benchmarks {
		if *ops > 0 {
			b.ops = *ops
		}
		if wanted(b.name) {
			measure(b, int(float64(b.ops)**factor))
		}
	}
}

// each has every benchmark once, by its name without GOMAXPROCS, at this one.
func each(all []benchmark, procs int) []benchmark {
	var out []benchmark
	seen := map[string]bool{}
	for _, b := range all {
		b.name = b.name[:strings.LastIndex(b.name, "_p")]
		if !seen[b.name] {
			seen[b.name] = true
			b.procs = procs
			out = append(out, b)
		}
	}
	return out
}

var exact bool // names are whole ones

func wanted(name string) bool {
	for _, a := range flag.Args() {
		if name == a || !exact && strings.HasPrefix(name, a) {
			return true
		}
	}
	return flag.NArg() == 0
}

var repetitions = 5

func measure(b benchmark, ops int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(b.procs))
	if ops < 1000 {
		ops = 1000
	}
	b.run(ops / 10) // creates Ms, goroutines and stacks
	type sample struct{ cpu, wall int64 }
	var s []sample
	for i := 0; i < repetitions; i++ {
		runtime.GC() // outside of the measured part; the collector is off inside
		cpu, start := cpuTime(), time.Now()
		b.run(ops)
		s = append(s, sample{cpuTime() - cpu, time.Since(start).Nanoseconds()})
	}
	sort.Slice(s, func(i, j int) bool { return s[i].cpu < s[j].cpu })
	m := s[repetitions/2]
	fmt.Printf("%s %.1f %d %d %.1f\n", b.name, float64(m.cpu)/float64(ops), ops, m.cpu,
		float64(m.wall)/float64(ops))
}

// cpuTime is the CPU time of the process, user and system, in ns.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fmt.Fprintln(os.Stderr, "bench: getrusage:", err)
		os.Exit(1)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
