// SPDX-License-Identifier: BSD-3-Clause
//
// A WaitGroup counter below zero panics; recovered once, then fatal.
//
// scenario: main: call f (defer recover, print; wg.done); print before; wg.done.
// exit: 2

package main

import "sync"

func main() {
	var wg sync.WaitGroup
	func() {
		defer func() { p(recover().(string)) }()
		wg.Done()
	}()
	p("before")
	flush()
	var other sync.WaitGroup
	other.Done()
}
