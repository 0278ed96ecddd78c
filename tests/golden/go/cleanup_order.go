// SPDX-License-Identifier: BSD-3-Clause
//
// Cleanups run in order since 1.25, on a goroutine of their own; 1.24 had them among the finalizers,
// the last first.
//
// scenario: alloc 384 KB; 3 x {finalizer i: print; cleanup i: print}; gc; print; sleep; print.
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
func drop(i int) {
	runtime.SetFinalizer(new(object), func(*object) { p("finalizer", i) })
	runtime.AddCleanup(new(object), func(i int) { p("cleanup", i) }, i)
}

func main() {
	for i := range kept {
		kept[i] = new([8192]byte)
	}
	for i := 0; i < 3; i++ {
		drop(i)
	}
	runtime.GC()
	p("collected")
	time.Sleep(ms)
	p("end")
	flush()
}
