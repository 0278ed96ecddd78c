// SPDX-License-Identifier: BSD-3-Clause
//
// Runtime errors are panics that can be recovered: division by zero, then an integer
// as a panic value.
//
// scenario: call f {defer recover, print; 1/0}; call g {defer recover, print; panic
// 42}.

package main

func main() {
	zero := 0
	func() {
		defer func() { p(recover().(error)) }()
		p(1 / zero)
	}()
	func() {
		defer func() { p("value", recover().(int)) }()
		panic(42)
	}()
	flush()
}
