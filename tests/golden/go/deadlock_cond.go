// SPDX-License-Identifier: BSD-3-Clause
//
// A Cond that nobody signals.
//
// scenario: main: lock m; print before; cond.wait.
// exit: 2

package main

import "sync"

func main() {
	var m sync.Mutex
	c := sync.NewCond(&m)
	m.Lock()
	p("before")
	flush()
	c.Wait()
}
