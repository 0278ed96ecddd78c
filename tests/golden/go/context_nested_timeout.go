// SPDX-License-Identifier: BSD-3-Clause
//
// The earlier deadline wins: a child with a later deadline ends with its parent.
//
// scenario: a=ctx timeout 5ms; b=child of a timeout 100ms; recv b.done; print b.err;
// print a.err.

package main

import (
	"context"
	"time"
)

func main() {
	a, cancelA := context.WithTimeout(context.Background(), 5*ms)
	defer cancelA()
	b, cancelB := context.WithTimeout(a, 100*ms)
	defer cancelB()
	start := time.Now()
	<-b.Done()
	p("early", time.Since(start) < 60*ms)
	p("b", b.Err())
	p("a", a.Err())
	flush()
}
