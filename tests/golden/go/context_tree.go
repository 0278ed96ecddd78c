// SPDX-License-Identifier: BSD-3-Clause
//
// Cancelling the parent cancels the child chain; cancelling a child leaves the parent
// alone.
//
// scenario: a=ctx; b=child of a; c=child of b; each with a waiter. cancel b; print b;
// sleep 1ms; print a.err; cancel a; sleep 1ms.

package main

import (
	"context"
	"time"
)

func main() {
	a, cancelA := context.WithCancel(context.Background())
	b, cancelB := context.WithCancel(a)
	c, cancelC := context.WithCancel(b)
	defer cancelC()
	wait := func(name string, ctx context.Context) {
		go func() { <-ctx.Done(); p(name, ctx.Err()) }()
		time.Sleep(ms)
	}
	wait("a", a)
	wait("b", b)
	wait("c", c)
	cancelB()
	p("cancelled b")
	time.Sleep(ms)
	p("a alive", a.Err() == nil)
	cancelA()
	time.Sleep(ms)
	p("end")
	flush()
}
