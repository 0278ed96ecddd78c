// SPDX-License-Identifier: BSD-3-Clause
//
// A receiver that sleeps through several periods finds one tick only.
//
// scenario: k=ticker 2ms; sleep 9ms; count without blocking: loop until select
// default; print count; k.stop; print end.

package main

import "time"

func main() {
	k := time.NewTicker(2 * ms)
	time.Sleep(9 * ms)
	n := 0
	for more := true; more; {
		select {
		case <-k.C:
			n++
		default:
			more = false
		}
	}
	p("ticks", n)
	k.Stop()
	flush()
}
