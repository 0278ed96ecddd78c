// SPDX-License-Identifier: BSD-3-Clause
//
// 200 goroutines in the ring, main yields to the global queue 4 times: the 1-in-61
// rule brings it back each time.
//
// scenario: schedtick is 1 in main. main: go G(0..199); loop 4 {gosched; print main}. G(i): print i.

package main

import "runtime"

func main() {
	align()
	for i := 0; i < 200; i++ {
		i := i
		go func() { p(i) }()
	}
	for i := 0; i < 4; i++ {
		runtime.Gosched()
		p("main")
	}
	flush()
}
