// SPDX-License-Identifier: BSD-3-Clause
//
// A deadlock in which one goroutine is locked to its thread.
//
// scenario: main: go {lockosthread; recv c}; gosched; print before; recv c.
// exit: 2

package main

import "runtime"

func main() {
	c := make(chan int)
	go func() { runtime.LockOSThread(); <-c }()
	runtime.Gosched()
	p("before")
	flush()
	<-c
}
