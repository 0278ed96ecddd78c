// SPDX-License-Identifier: BSD-3-Clause
//
// A panic in a deferred call replaces the first one; recover returns the last.
//
// scenario: call f; print end. f: defer {recover; print}; defer {panic second}; panic
// first.

package main

func main() {
	func() {
		defer func() { p("recovered", recover().(string)) }()
		defer func() { panic("second") }()
		panic("first")
	}()
	p("end")
	flush()
}
