// SPDX-License-Identifier: BSD-3-Clause
//
// A cleanup that blocks holds up the other cleanups of its block. Finalizers too in 1.24, where both
// have one goroutine.
//
// scenario: alloc 384 KB; finalizer {print}; cleanup {print}; cleanup {recv ch; print}; cleanup {print}; gc;
// sleep; print; send; sleep; print.
//
// releases: 1.24-

package main

import (
	"runtime"
	"time"
)

type object [64]byte

// A heap of some spans, so that sweeping takes a while. Who ends it decides whether main comes back
// before the cleanups: the sweeper here, main itself for one heap in eleven.
var kept [48]*[8192]byte

//go:noinline
func finalizer(f func()) {
	runtime.SetFinalizer(new(object), func(*object) { f() })
}

//go:noinline
func cleanup(f func()) {
	runtime.AddCleanup(new(object), func(f func()) { f() }, f)
}

func main() {
	for i := range kept {
		kept[i] = new([8192]byte)
	}
	ch := make(chan int)
	finalizer(func() { p("finalizer") })
	cleanup(func() { p("a") })
	cleanup(func() { p("b", <-ch) })
	cleanup(func() { p("c") })
	runtime.GC()
	time.Sleep(ms)
	p("still", runtime.NumGoroutine())
	ch <- 7
	time.Sleep(ms)
	p("end", runtime.NumGoroutine())
	flush()
}
