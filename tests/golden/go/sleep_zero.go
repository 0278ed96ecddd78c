// SPDX-License-Identifier: BSD-3-Clause
//
// Sleep(0) and negative sleeps do not yield.
//
// scenario: main: go G; sleep 0; print main 1; sleep -1; print main 2; gosched; print
// end. G: print g.

package main

import (
	"runtime"
	"time"
)

func main() {
	go func() { p("g") }()
	time.Sleep(0)
	p("main 1")
	time.Sleep(-1)
	p("main 2")
	runtime.Gosched()
	p("end")
	flush()
}
