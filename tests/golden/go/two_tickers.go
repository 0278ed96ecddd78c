// SPDX-License-Identifier: BSD-3-Clause
//
// Two tickers with periods 10 and 24 ms interleave by time.
//
// scenario: a=ticker 10ms, b=ticker 24ms; loop 6 {select {recv a: print a; recv b:
// print b}}.

package main

import "time"

func main() {
	a, b := time.NewTicker(10*ms), time.NewTicker(24*ms)
	for i := 0; i < 6; i++ {
		select {
		case <-a.C:
			p("a")
		case <-b.C:
			p("b")
		}
	}
	flush()
}
