// SPDX-License-Identifier: BSD-3-Clause
//
// select between a slow sender and a timeout, both ways.
//
// scenario: round 1: sender sleeps 20ms, timeout 5ms -> timeout. round 2: sender
// sleeps 5ms, timeout 200ms -> data.

package main

import "time"

func main() {
	round := func(delay, limit time.Duration) {
		c := make(chan int, 1)
		go func() { time.Sleep(delay); c <- 1 }()
		select {
		case <-c:
			p("data")
		case <-time.After(limit):
			p("timeout")
		}
	}
	round(20*ms, 5*ms)
	round(5*ms, 200*ms)
	flush()
}
