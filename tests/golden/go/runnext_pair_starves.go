// SPDX-License-Identifier: BSD-3-Clause
//
// Two goroutines that hand a token to each other live in runnext: a third one in the
// ring waits until they are finished.
//
// scenario: main: go T; go A; recv done. A and B bounce a token 10 times over two
// unbuffered channels, printing each hop; T: print third.

package main

func main() {
	ab, ba, done := make(chan int), make(chan int), make(chan bool)
	go func() { p("third") }()
	go func() {
		for n := range ab {
			p("b", n)
			ba <- n + 1
		}
	}()
	go func() {
		n := 0
		for i := 0; i < 5; i++ {
			p("a", n)
			ab <- n
			n = <-ba
		}
		done <- true
	}()
	<-done
	p("end")
	flush()
}
