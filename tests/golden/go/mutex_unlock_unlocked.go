// SPDX-License-Identifier: BSD-3-Clause
//
// Unlock of an unlocked mutex is a fatal error that recover cannot catch.
//
// scenario: main: print before; unlock m.
// exit: 2

package main

import "sync"

func main() {
	var m sync.Mutex
	p("before")
	flush()
	defer func() { recover() }()
	m.Unlock()
}
