// SPDX-License-Identifier: BSD-3-Clause
//
// Stop before the time prevents the call and says true; afterwards it says false.
//
// scenario: t1=afterfunc 2ms {print never}; t1.stop: print; t1.stop: print;
// t2=afterfunc 2ms {print f}; sleep 10ms; t2.stop: print; t2.reset 2ms: print; sleep
// 10ms; print end.

package main

import "time"

func main() {
	t1 := time.AfterFunc(2*ms, func() { p("never") })
	p("stop", t1.Stop())
	p("stop again", t1.Stop())
	t2 := time.AfterFunc(2*ms, func() { p("f") })
	time.Sleep(10 * ms)
	p("stop late", t2.Stop())
	p("reset late", t2.Reset(2*ms))
	time.Sleep(10 * ms)
	p("end")
	flush()
}
