// SPDX-License-Identifier: BSD-3-Clause
//
// With GODEBUG=gcstoptheworld no goroutine of the program runs while the collector marks: they are
// kept back and go to the global queue afterwards, before whoever started the collection.
//
// scenario: gcstoptheworld=1; go 3 x {print}; gc; print; sleep; print.
//
// env: GODEBUG=gcstoptheworld=1

package main

import (
	"runtime"
	"time"
)

func main() {
	for i := 0; i < 3; i++ {
		i := i
		go func() { p("goroutine", i) }()
	}
	runtime.GC()
	p("collected")
	time.Sleep(ms)
	p("end")
	flush()
}
