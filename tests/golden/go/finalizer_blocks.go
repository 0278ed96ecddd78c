// SPDX-License-Identifier: BSD-3-Clause
//
// A finalizer that blocks keeps all others from running; one that calls Goexit, for ever.
//
// scenario: finalizer a {print}; finalizer b {recv ch; print}; finalizer c {goexit after print};
// gc; print; send; sleep; print; finalizer d {print}; gc; sleep; print.

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
	ch := make(chan int)
	drop(func() { p("a") })
	drop(func() {
		p("b waits", runtime.NumGoroutine())
		p("b got", <-ch)
	})
	runtime.GC()
	time.Sleep(ms)
	p("still", runtime.NumGoroutine())
	ch <- 7
	time.Sleep(ms)
	drop(func() {
		p("c exits")
		runtime.Goexit()
	})
	runtime.GC()
	time.Sleep(ms)
	drop(func() { p("d") })
	runtime.GC()
	time.Sleep(ms)
	p("end", runtime.NumGoroutine())
	flush()
}
