// SPDX-License-Identifier: BSD-3-Clause
//
// Unlock of an RWMutex that is not locked cannot be recovered.
//
// scenario: main: print before; rw.unlock.
// exit: 2

package main

import "sync"

func main() {
	var rw sync.RWMutex
	p("before")
	flush()
	defer func() { recover() }()
	rw.Unlock()
}
