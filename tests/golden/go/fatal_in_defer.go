// SPDX-License-Identifier: BSD-3-Clause
//
// A fatal error in a deferred call: since 1.26 it names the panics that the call was run for.
//
// scenario: main: panic one; in a deferred call panic two; in one of that: unlock of an unlocked
// mutex.
// exit: 2

package main

import "sync"

func main() {
	var m sync.Mutex
	defer func() {
		defer m.Unlock()
		panic("two")
	}()
	panic("one")
}
