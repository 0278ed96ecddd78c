// SPDX-License-Identifier: BSD-3-Clause
//
// A select that chooses a send on a closed channel panics.
//
// scenario: main: close c; call f; print end. f: defer {recover; print text}; select
// {send c; recv nil}.

package main

func main() {
	c := make(chan int)
	close(c)
	func() {
		defer func() { p(recover().(error)) }()
		var none chan int
		select {
		case c <- 1:
			p("never")
		case <-none:
			p("never")
		}
	}()
	p("end")
	flush()
}
