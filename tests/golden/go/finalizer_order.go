// SPDX-License-Identifier: BSD-3-Clause
//
// Finalizers of objects that die together run in the reverse order of their setting, one after the
// other on one goroutine, as soon as whoever called runtime.GC lets somebody else run.
//
// scenario: 5 x {finalizer i: print}; go {print}; gc; print; sleep; print.

package main

import (
	"runtime"
	"time"
)

type object [64]byte

//go:noinline
func drop(i int) {
	runtime.SetFinalizer(new(object), func(*object) { p("finalizer", i, runtime.NumGoroutine()) })
}

func main() {
	for i := 0; i < 5; i++ {
		drop(i)
	}
	go func() { p("goroutine") }()
	runtime.GC()
	p("collected", runtime.NumGoroutine())
	time.Sleep(ms)
	p("end")
	flush()
}
