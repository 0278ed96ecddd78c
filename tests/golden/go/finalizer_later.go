// SPDX-License-Identifier: BSD-3-Clause
//
// A collection finds what was dropped before it began; finalizers may set finalizers, for the next.
//
// scenario: finalizer {print; finalizer {print}}; gc; sleep; print; gc; sleep; print.

package main

import (
	"runtime"
	"time"
)

type object [64]byte

//go:noinline
func drop(f func()) {
	runtime.SetFinalizer(new(object), func(*object) { f() })
}

func main() {
	drop(func() {
		p("first")
		drop(func() { p("second") })
	})
	runtime.GC()
	time.Sleep(ms)
	p("one")
	runtime.GC()
	time.Sleep(ms)
	p("two")
	runtime.GC()
	time.Sleep(ms)
	p("three")
	flush()
}
