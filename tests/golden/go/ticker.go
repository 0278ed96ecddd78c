// SPDX-License-Identifier: BSD-3-Clause
//
// A ticker ticks until it is stopped.
//
// scenario: k=ticker 4ms; loop i=1..4 {recv k; print tick i}; k.stop; sleep 10ms;
// select {recv k: print never; default: print quiet}.

package main

import "time"

func main() {
	k := time.NewTicker(4 * ms)
	for i := 1; i <= 4; i++ {
		<-k.C
		p("tick", i)
	}
	k.Stop()
	time.Sleep(10 * ms)
	select {
	case <-k.C:
		p("never")
	default:
		p("quiet")
	}
	flush()
}
