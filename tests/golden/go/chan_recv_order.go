// SPDX-License-Identifier: BSD-3-Clause
//
// Five receivers park on an unbuffered channel; five sends serve them first come,
// first served, each wake displacing the one before.
//
// scenario: main: go R(1..5); sleep 1ms; send c 1..5; print sent; sleep 1ms; print
// end. R(i): recv c; print r i got v.

package main

import "time"

func main() {
	c := make(chan int)
	for i := 1; i <= 5; i++ {
		i := i
		go func() { v := <-c; p("r", i, "got", v) }()
		time.Sleep(ms)
	}
	for v := 1; v <= 5; v++ {
		c <- v
	}
	p("sent")
	time.Sleep(ms)
	p("end")
	flush()
}
