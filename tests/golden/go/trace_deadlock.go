// SPDX-License-Identifier: BSD-3-Clause
//
// A deadlock while the program is traced. The goroutine that reads the trace is a goroutine like any
// other, and waits. Since 1.22 nothing is said any more: two goroutines of the tracer sleep, and who
// sleeps is not deadlocked.
//
// releases: 1.19-1.21
// exit: 2
// scenario: main: trace.start; print numgoroutine; recv a channel to which nobody sends.

package main

import (
	"io"
	"os"
	"runtime"
	"runtime/trace"
)

func main() {
	if trace.Start(io.Discard) != nil {
		os.Exit(3)
	}
	p(runtime.NumGoroutine())
	flush()
	<-make(chan int)
}
