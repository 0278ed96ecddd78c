// SPDX-License-Identifier: BSD-3-Clause
//
// Gosched with nobody else to run comes straight back.
//
// scenario: main: loop 3 {print turn i; gosched}; print end.

package main

import "runtime"

func main() {
	for i := 0; i < 3; i++ {
		p("turn", i)
		runtime.Gosched()
	}
	p("end")
	flush()
}
