// SPDX-License-Identifier: BSD-3-Clause
//
// Unbuffered ping-pong: every hop is one switch through runnext.
//
// scenario: pong: range ping: print pong n; send pong n. main: go pong; loop 1..5
// {print ping n; send ping n; recv pong}; close ping; print end.

package main

func main() {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for n := range ping {
			p("pong", n)
			pong <- n
		}
	}()
	for n := 1; n <= 5; n++ {
		p("ping", n)
		ping <- n
		<-pong
	}
	close(ping)
	p("end")
	flush()
}
