// SPDX-License-Identifier: BSD-3-Clause
//
// A send on a closed channel panics, and the panic can be recovered.
//
// scenario: main: close c; call f; print end. f: defer {recover; print text}; send c
// 1; print never.

package main

func main() {
	c := make(chan int, 1)
	close(c)
	func() {
		defer func() { p(recover().(error)) }()
		c <- 1
		p("never")
	}()
	p("end")
	flush()
}
