// SPDX-License-Identifier: BSD-3-Clause
//
// Goexit runs the deferred calls, last in first out, and only them; recover sees
// nothing.
//
// scenario: main: go G; recv done; print end. G: defer {send done}; defer {print d1};
// call f; print never. f: defer {print d2, recover is nil}; goexit.

package main

import "runtime"

func main() {
	done := make(chan bool)
	go func() {
		defer func() { done <- true }()
		defer p("d1")
		func() {
			defer func() { p("d2", recover() == nil) }()
			runtime.Goexit()
		}()
		p("never")
	}()
	<-done
	p("end")
	flush()
}
