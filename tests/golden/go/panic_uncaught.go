// SPDX-License-Identifier: BSD-3-Clause
//
// A panic in a goroutine that nobody recovers ends the program with status 2,
// whatever the others do.
//
// scenario: main: go G; sleep 100ms; print never. G: defer {print deferred; flush};
// panic boom.
// exit: 2

package main

import "time"

func main() {
	go func() {
		defer func() { p("deferred"); flush() }()
		panic("boom")
	}()
	time.Sleep(100 * ms)
	p("never")
	flush()
}
