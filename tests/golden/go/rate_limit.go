// SPDX-License-Identifier: BSD-3-Clause
//
// A token bucket: a ticker goroutine refills a channel with room for 2, five requests
// drain it.
//
// scenario: tokens room 2, filled; filler: ticker 4ms: send or default. main: loop
// i=1..5 {recv tokens; print request i}.

package main

import "time"

func main() {
	tokens := make(chan bool, 2)
	tokens <- true
	tokens <- true
	go func() {
		for range time.NewTicker(4 * ms).C {
			select {
			case tokens <- true:
				p("refill")
			default:
				p("full")
			}
		}
	}()
	for i := 1; i <= 5; i++ {
		<-tokens
		p("request", i)
	}
	p("end")
	flush()
}
