// SPDX-License-Identifier: BSD-3-Clause
//
// close wakes the receivers 1..5, parked in that order, as 1, 5, 4, 3, 2.
//
// scenario: main: go R(1..5), sleep 1ms after each; close c; print closed; sleep 1ms.
// R(i): recv c; print r i ok=false.

package main

import "time"

func main() {
	c := make(chan int)
	for i := 1; i <= 5; i++ {
		i := i
		go func() { _, ok := <-c; p("r", i, ok) }()
		time.Sleep(ms)
	}
	close(c)
	p("closed")
	time.Sleep(ms)
	p("end")
	flush()
}
