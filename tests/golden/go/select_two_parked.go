// SPDX-License-Identifier: BSD-3-Clause
//
// Two selects park on the same two channels: each message wakes exactly one, first
// come, first served.
//
// scenario: main: go S(1); go S(2), sleep 1ms after each; send a; send b; sleep 1ms;
// print end. S(i): select {recv a, recv b}: print s i which.

package main

import "time"

func main() {
	a, b := make(chan int), make(chan int)
	for i := 1; i <= 2; i++ {
		i := i
		go func() {
			select {
			case <-a:
				p("s", i, "a")
			case <-b:
				p("s", i, "b")
			}
		}()
		time.Sleep(ms)
	}
	a <- 1
	b <- 1
	p("sent")
	time.Sleep(ms)
	p("end")
	flush()
}
