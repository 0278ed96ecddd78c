// SPDX-License-Identifier: BSD-3-Clause
//
// os.Exit ends the program at once: no deferred call, no other goroutine.
//
// scenario: main: defer {print never}; go {print never}; print exits; exit 3.
// exit: 3

package main

import "os"

func main() {
	defer p("never")
	go func() { p("never") }()
	p("exits")
	flush()
	os.Exit(3)
}
