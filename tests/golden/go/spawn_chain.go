// SPDX-License-Identifier: BSD-3-Clause
//
// Each goroutine starts the next one and ends: a chain through runnext.
//
// scenario: main: go C(10); recv done; print end. C(n): print link n; if n==0 send
// done else go C(n-1).

package main

var done = make(chan bool)

func link(n int) {
	p("link", n)
	if n == 0 {
		done <- true
		return
	}
	go link(n - 1)
	p("started from", n)
}

func main() {
	go link(10)
	<-done
	p("end")
	flush()
}
