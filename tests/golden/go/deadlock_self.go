// SPDX-License-Identifier: BSD-3-Clause
//
// A goroutine locks a mutex it holds.
//
// scenario: main: lock m; print before; lock m.
// exit: 2

package main

import "sync"

func main() {
	var m sync.Mutex
	m.Lock()
	p("before")
	flush()
	m.Lock()
}
