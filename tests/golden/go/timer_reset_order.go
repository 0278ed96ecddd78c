// SPDX-License-Identifier: BSD-3-Clause
//
// Reset moves a sleeping goroutine's timer later or earlier: the order of firing
// follows the new times.
//
// scenario: t1=afterfunc 4ms, t2=afterfunc 8ms, t3=afterfunc 12ms; t1.reset 16ms;
// t3.reset 2ms; sleep 30ms. Each prints its name.

package main

import "time"

func main() {
	t1 := time.AfterFunc(4*ms, func() { p("t1") })
	time.AfterFunc(9*ms, func() { p("t2") })
	t3 := time.AfterFunc(14*ms, func() { p("t3") })
	p(t1.Reset(19 * ms))
	p(t3.Reset(2 * ms))
	time.Sleep(30 * ms)
	p("end")
	flush()
}
