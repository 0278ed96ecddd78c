// SPDX-License-Identifier: BSD-3-Clause
//
// A panic that is recovered and raised again: the message names both.
//
// scenario: main: defer {flush}; call f. f: defer {recover; print; panic the same
// value}; panic boom.
// exit: 2

package main

func main() {
	defer flush()
	defer func() {
		r := recover()
		p("recovered", r.(string))
		panic(r)
	}()
	panic("boom")
}
