// SPDX-License-Identifier: BSD-3-Clause
//
// main locked to its thread starts goroutines and blocks: hand-off to another thread
// and back keeps the order.
//
// scenario: main: lockosthread; loop r=0..2 {go G(r,1); go G(r,2); recv done x2;
// print main r}. G: print g r i; send done.

package main

import "runtime"

func main() {
	runtime.LockOSThread()
	done := make(chan bool)
	for r := 0; r < 3; r++ {
		for i := 1; i <= 2; i++ {
			r, i := r, i
			go func() { p("g", r, i); done <- true; p("sent", r, i) }()
		}
		<-done
		<-done
		p("main", r)
	}
	flush()
}
