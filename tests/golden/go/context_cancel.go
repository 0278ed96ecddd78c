// SPDX-License-Identifier: BSD-3-Clause
//
// cancel closes the Done channel: four waiters wake in close's order.
//
// scenario: main: go W(1..4), sleep 1ms after each; cancel; print cancelled; sleep
// 1ms; print err. W(i): recv ctx.done; print w i.

package main

import (
	"context"
	"time"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	for i := 1; i <= 4; i++ {
		i := i
		go func() { <-ctx.Done(); p("w", i) }()
		time.Sleep(ms)
	}
	cancel()
	p("cancelled")
	time.Sleep(ms)
	p(ctx.Err())
	cancel()
	flush()
}
