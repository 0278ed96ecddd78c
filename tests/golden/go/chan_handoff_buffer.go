// SPDX-License-Identifier: BSD-3-Clause
//
// A send to a parked receiver bypasses the buffer: the length stays 0.
//
// scenario: c has room for 2. main: go R; sleep 1ms; send c 1; print len; send c 2;
// print len; sleep 1ms. R: recv c twice, print each.

package main

import "time"

func main() {
	c := make(chan int, 2)
	go func() {
		p("r", <-c)
		p("r", <-c)
	}()
	time.Sleep(ms)
	c <- 1
	p("len", len(c))
	c <- 2
	p("len", len(c))
	time.Sleep(ms)
	p("end")
	flush()
}
