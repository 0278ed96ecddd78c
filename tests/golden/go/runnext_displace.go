// SPDX-License-Identifier: BSD-3-Clause
//
// A wake-up displaces a freshly started goroutine from runnext to the tail of the
// ring.
//
// scenario: main: go W; sleep 1ms; go A; go B; send c; print sent; sleep 1ms; print
// end. W: recv c; print w. A,B: print.

package main

import "time"

func main() {
	c := make(chan int)
	go func() { <-c; p("w") }()
	time.Sleep(ms)
	go func() { p("a") }()
	go func() { p("b") }()
	c <- 1
	p("sent")
	time.Sleep(ms)
	p("end")
	flush()
}
