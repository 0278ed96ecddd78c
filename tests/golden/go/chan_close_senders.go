// SPDX-License-Identifier: BSD-3-Clause
//
// Senders that are parked when the channel is closed wake up in a panic, in close's
// order.
//
// scenario: main: go S(1..4), sleep 1ms after each; close c; sleep 1ms; print end.
// S(i): defer {recover; print s i text}; send c i.

package main

import "time"

func main() {
	c := make(chan int)
	for i := 1; i <= 4; i++ {
		i := i
		go func() {
			defer func() { p("s", i, recover().(error)) }()
			c <- i
		}()
		time.Sleep(ms)
	}
	close(c)
	p("closed")
	time.Sleep(ms)
	p("end")
	flush()
}
