// SPDX-License-Identifier: BSD-3-Clause
//
// The finalizer goroutine that has nothing to do is none of the program's.
//
// scenario: finalizer {print}; gc; sleep; goexit.
//
// exit: 2

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
	drop(func() { p("runs") })
	runtime.GC()
	time.Sleep(ms)
	flush()
	runtime.Goexit()
}
