// SPDX-License-Identifier: BSD-3-Clause
//
// A fatal error in a call that Goexit runs: there is no panic to name.
//
// scenario: main: deferred unlock of an unlocked mutex; goexit.
// exit: 2

package main

import (
	"runtime"
	"sync"
)

func main() {
	var m sync.Mutex
	defer m.Unlock()
	runtime.Goexit()
}
