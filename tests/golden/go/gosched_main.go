// SPDX-License-Identifier: BSD-3-Clause
//
// Start A, B, C, then Gosched in main: runnext, ring, global queue.
//
// scenario: main: go A; go B; go C; gosched; print main. Each: print its name.

package main

import "runtime"

func main() {
	for _, s := range []string{"A", "B", "C"} {
		s := s
		go func() { p(s) }()
	}
	runtime.Gosched()
	p("main")
	flush()
}
