// SPDX-License-Identifier: BSD-3-Clause
//
// TryLock succeeds only on a free mutex, and does not queue.
//
// scenario: main: trylock m: print; trylock m: print; unlock; trylock: print; unlock.

package main

import "sync"

func main() {
	var m sync.Mutex
	p(m.TryLock())
	p(m.TryLock())
	m.Unlock()
	p(m.TryLock())
	m.Unlock()
	var rw sync.RWMutex
	p(rw.TryRLock())
	p(rw.TryLock())
	p(rw.TryRLock())
	flush()
}
