// SPDX-License-Identifier: BSD-3-Clause
//
// NumGoroutine counts what is started and not ended, parked ones too.
//
// scenario: print n; go {recv c} x3; print n; gosched; print n; close c; print n;
// gosched; print n.

package main

import "runtime"

func main() {
	c := make(chan int)
	p(runtime.NumGoroutine())
	for i := 0; i < 3; i++ {
		go func() { <-c }()
	}
	p(runtime.NumGoroutine())
	runtime.Gosched()
	p(runtime.NumGoroutine())
	close(c)
	p(runtime.NumGoroutine())
	runtime.Gosched()
	p(runtime.NumGoroutine())
	flush()
}
