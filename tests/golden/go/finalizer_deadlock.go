// SPDX-License-Identifier: BSD-3-Clause
//
// A finalizer that blocks is a goroutine of the program: after main's Goexit there is still
// somebody, and all are asleep.
//
// scenario: finalizer {recv ch}; gc; sleep; goexit.
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
	ch := make(chan int)
	drop(func() {
		p("waits")
		<-ch
	})
	runtime.GC()
	time.Sleep(ms)
	flush()
	runtime.Goexit()
}
