// SPDX-License-Identifier: BSD-3-Clause
//
// A context with a timeout: work that is too slow sees the deadline, fast work does
// not.
//
// scenario: call work(1ms); call work(50ms). work(d): ctx timeout 10ms; select {after
// d: print done; ctx.done: print err}; cancel.

package main

import (
	"context"
	"time"
)

func main() {
	work := func(d time.Duration) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*ms)
		defer cancel()
		select {
		case <-time.After(d):
			p("done")
		case <-ctx.Done():
			p(ctx.Err())
		}
	}
	work(ms)
	work(50 * ms)
	flush()
}
