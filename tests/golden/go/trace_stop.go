// SPDX-License-Identifier: BSD-3-Clause
//
// trace.Stop comes back when the goroutine that reads the trace has read all and is gone; the
// goroutines that the tracer has besides (1.22+) are the runtime's own and not counted. What is
// started meanwhile runs in the usual order.
//
// scenario: main: trace.start; print numgoroutine; wg.add 5; go G(0..4); wg.wait; trace.stop; gosched;
// print numgoroutine. G(i): print i; wg.done.

package main

import (
	"io"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
)

func main() {
	if trace.Start(io.Discard) != nil {
		os.Exit(3)
	}
	p(runtime.NumGoroutine())
	var wg sync.WaitGroup
	wg.Add(5)
	for i := 0; i < 5; i++ {
		i := i
		go func() { p(i); wg.Done() }()
	}
	wg.Wait()
	trace.Stop()
	runtime.Gosched()
	p(runtime.NumGoroutine())
	flush()
}
