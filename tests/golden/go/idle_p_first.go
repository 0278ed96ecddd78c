// SPDX-License-Identifier: BSD-3-Clause
//
// The first idle P that is used after GOMAXPROCS grew from 1 to 8: the lowest id up to
// 1.25, the highest since 1.26.
//
// scenario: main: sleep 2ms; gomaxprocs 8; go H; cpu until H stored its P's id; print helper on P id.
// gcflags: -complete=false

package main

import (
	"runtime"
	"sync/atomic"
	"time"
	_ "unsafe"
)

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

func main() {
	time.Sleep(2 * ms) // whatever the runtime started has run
	runtime.GOMAXPROCS(8)
	busy(2 * ms) // the M that the end of stop-the-world started gives up again
	id := int32(-1)
	go func() {
		atomic.StoreInt32(&id, int32(procPin()))
		procUnpin()
	}()
	for atomic.LoadInt32(&id) < 0 {
	}
	p("helper on P", int(id))
	flush()
}
