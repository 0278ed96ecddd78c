// SPDX-License-Identifier: BSD-3-Clause
//
// A timer that fired before Stop or Reset: up to 1.22 the old value stays in the
// channel and the calls say false; since 1.23 it is withdrawn and they say true.
//
// scenario: t=timer 1ms; sleep 4ms; t.stop: print; select {recv t.C: print stale
// value; default: print empty}; u=timer 1ms; sleep 4ms; u.reset 5ms: print; recv u.C;
// print whether it took more than 3ms.

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
