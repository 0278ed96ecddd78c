// SPDX-License-Identifier: BSD-3-Clause
//
// A Once whose body panics counts as done.
//
// scenario: main: call f {defer recover, print; once {print body; panic boom}}; once
// {print never}; print end.

package main

import "sync"

func main() {
	var once sync.Once
	func() {
		defer func() { p("recovered", recover().(string)) }()
		once.Do(func() {
			p("body")
			panic("boom")
		})
	}()
	once.Do(func() { p("never") })
	p("end")
	flush()
}
