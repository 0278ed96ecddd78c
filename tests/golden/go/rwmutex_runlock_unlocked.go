// SPDX-License-Identifier: BSD-3-Clause
//
// RUnlock of an RWMutex that is not locked cannot be recovered.
//
// scenario: main: print before; rw.runlock.
// exit: 2

package main

import "sync"

func main() {
	var rw sync.RWMutex
	p("before")
	flush()
	defer func() { recover() }()
	rw.RUnlock()
}
