// SPDX-License-Identifier: BSD-3-Clause
//
// Ticker.Reset changes the period.
//
// scenario: k=ticker 200ms; k.reset 3ms; recv k x3; print within 100ms; k.stop.

package main

import "time"

func main() {
	k := time.NewTicker(200 * ms)
	start := time.Now()
	k.Reset(3 * ms)
	for i := 1; i <= 3; i++ {
		<-k.C
		p("tick", i)
	}
	p("soon", time.Since(start) < 100*ms)
	k.Stop()
	flush()
}
