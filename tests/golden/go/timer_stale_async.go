// SPDX-License-Identifier: BSD-3-Clause
//
// timer_stale with the old timer channels asked for by GODEBUG=asynctimerchan=1 (1.23
// to 1.26).
//
// scenario: t=timer 1ms; sleep 4ms; t.stop: print; select {recv t.C: print stale
// value; default: print empty}; u=timer 1ms; sleep 4ms; u.reset 5ms: print; recv u.C;
// print whether it took more than 3ms. Rule timer channels = old.
// releases: 1.23-1.26
// env: GODEBUG=asynctimerchan=1

package main

import "time"

func main() {
	t := time.NewTimer(ms)
	time.Sleep(4 * ms)
	p("stop", t.Stop())
	select {
	case <-t.C:
		p("stale value")
	default:
		p("empty")
	}
	u := time.NewTimer(ms)
	time.Sleep(4 * ms)
	p("reset", u.Reset(5*ms))
	start := time.Now()
	<-u.C
	p("waited for the new time", time.Since(start) > 3*ms)
	flush()
}
