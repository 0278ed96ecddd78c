// SPDX-License-Identifier: BSD-3-Clause
//
// Stop and Reset of a channel timer before it fires.
//
// scenario: t=timer 2ms; t.stop: print; sleep 5ms; select {recv t.C: print fired;
// default: print nothing}; t.reset 2ms: print; recv t.C; print fired; end.

package main

import "time"

func main() {
	t := time.NewTimer(2 * ms)
	p("stop", t.Stop())
	time.Sleep(5 * ms)
	select {
	case <-t.C:
		p("fired")
	default:
		p("nothing")
	}
	p("reset", t.Reset(2*ms))
	<-t.C
	p("fired")
	p("reset", t.Reset(200*ms))
	p("stop", t.Stop())
	flush()
}
