// SPDX-License-Identifier: BSD-3-Clause
//
// Start G1..G5, then wait: the last one started sits in runnext and runs first.
//
// scenario: main: go G(1..5); recv done x5; print end. G(i): print g i; send done
// (done has room for 5).

package main

func main() {
	done := make(chan bool, 5)
	for i := 1; i <= 5; i++ {
		i := i
		go func() { p("g", i); done <- true }()
	}
	p("started")
	for i := 0; i < 5; i++ {
		<-done
	}
	p("end")
	flush()
}
