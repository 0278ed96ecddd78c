// SPDX-License-Identifier: BSD-3-Clause
//
// Five senders park on an unbuffered channel; the receiver sees them in the order
// they came.
//
// scenario: main: go S(1..5), sleep 1ms after each; loop 5 {recv c; print got v};
// sleep 1ms; print end. S(i): send c i; print s i.

package main

import "time"

func main() {
	c := make(chan int)
	for i := 1; i <= 5; i++ {
		i := i
		go func() { c <- i; p("s", i) }()
		time.Sleep(ms)
	}
	for i := 0; i < 5; i++ {
		p("got", <-c)
	}
	time.Sleep(ms)
	p("end")
	flush()
}
