// SPDX-License-Identifier: BSD-3-Clause
//
// Goexit in main lets the others finish, then the program is dead in its own words.
//
// scenario: main: go G; print main exits; goexit. G: print g; sleep 2ms; print g ends.
// exit: 2

package main

import (
	"runtime"
	"time"
)

func main() {
	go func() {
		p("g")
		time.Sleep(2 * ms)
		p("g ends")
		flush()
	}()
	p("main exits")
	runtime.Goexit()
}
