// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on nil channels block for ever: a receive in main, a send in a goroutine.
//
// scenario: main: go {send nil}; gosched; print before; recv nil.
// exit: 2

package main

import "runtime"

func main() {
	var c chan int
	go func() { c <- 1 }()
	runtime.Gosched()
	p("before")
	flush()
	<-c
}
