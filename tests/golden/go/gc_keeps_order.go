// SPDX-License-Identifier: BSD-3-Clause
//
// runtime.GC() with goroutines in the run queue: when do they run relative to its
// caller?
//
// scenario: main: go A; go B; go C; gc; print main; sleep 2ms; print end. Each prints
// its name.
// releases: 1.19-1.25

package main

import (
	"runtime"
	"time"
)

func main() {
	for _, s := range []string{"A", "B", "C"} {
		s := s
		go func() { p(s) }()
	}
	runtime.GC()
	p("main")
	time.Sleep(2 * ms)
	p("end")
	flush()
}
