// SPDX-License-Identifier: BSD-3-Clause
//
// close wakes parked selects in close's order.
//
// scenario: main: go S(1..4), sleep 1ms after each; close quit; print closed; sleep
// 1ms. S(i): select {recv data, recv quit}: print quit i.

package main

import "time"

func main() {
	data, quit := make(chan int), make(chan bool)
	for i := 1; i <= 4; i++ {
		i := i
		go func() {
			select {
			case <-data:
				p("data", i)
			case <-quit:
				p("quit", i)
			}
		}()
		time.Sleep(ms)
	}
	close(quit)
	p("closed")
	time.Sleep(ms)
	p("end")
	flush()
}
