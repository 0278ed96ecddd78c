// SPDX-License-Identifier: BSD-3-Clause
//
// Deferred calls run last in first out, arguments taken at the defer, also when the
// function panics; recover stops it.
//
// scenario: main: call f; print end. f: defer {recover; print recovered}; loop i=0..2
// {defer print d i}; panic boom.

package main

func main() {
	func() {
		defer func() { p("recovered", recover().(string)) }()
		for i := 0; i < 3; i++ {
			defer p("d", i)
		}
		p("body")
		panic("boom")
	}()
	p("end")
	flush()
}
