// SPDX-License-Identifier: BSD-3-Clause
//
// A goroutine that yields goes to the global queue: everything local, even if started
// later, runs first.
//
// scenario: main: go Y; go S; recv done x2. Y: print y1; go L(1); go L(2); gosched;
// print y2; send done. S: print s; go L(3); send done. L(i): print l i.

package main

import "runtime"

func main() {
	done := make(chan bool, 2)
	l := func(i int) { p("l", i) }
	go func() {
		p("y1")
		go l(1)
		go l(2)
		runtime.Gosched()
		p("y2")
		done <- true
	}()
	go func() {
		p("s")
		go l(3)
		done <- true
	}()
	<-done
	<-done
	p("end")
	flush()
}
