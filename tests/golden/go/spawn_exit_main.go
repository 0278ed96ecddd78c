// SPDX-License-Identifier: BSD-3-Clause
//
// The end of main ends the program: goroutines that did not run yet never print.
//
// scenario: main: go G(1..3); print end.

package main

func main() {
	for i := 1; i <= 3; i++ {
		i := i
		go func() { p("never", i) }()
	}
	p("end")
	flush()
}
