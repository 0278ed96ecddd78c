// SPDX-License-Identifier: BSD-3-Clause
//
// A closed channel is always ready in select; a nil one never is.
//
// scenario: main: close c; loop 3 {select {recv c: print closed; recv nil: print
// never}}.

package main

func main() {
	c := make(chan int)
	var none chan int
	close(c)
	for i := 0; i < 3; i++ {
		select {
		case _, ok := <-c:
			p("closed", ok)
		case <-none:
			p("never")
		}
	}
	flush()
}
