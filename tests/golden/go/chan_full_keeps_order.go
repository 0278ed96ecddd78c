// SPDX-License-Identifier: BSD-3-Clause
//
// A receive from a full buffer with senders waiting takes the head and moves the
// first sender's value to the tail.
//
// scenario: c has room for 2. main: send c 1; send c 2; go S(3); go S(4), sleep 1ms
// after each; loop 4 {recv c; print got v}. S(i): send c i; print sent i.

package main

import "time"

func main() {
	c := make(chan int, 2)
	c <- 1
	c <- 2
	for i := 3; i <= 4; i++ {
		i := i
		go func() { c <- i; p("sent", i) }()
		time.Sleep(ms)
	}
	for i := 0; i < 4; i++ {
		p("got", <-c, "left", len(c))
	}
	time.Sleep(ms)
	p("end")
	flush()
}
