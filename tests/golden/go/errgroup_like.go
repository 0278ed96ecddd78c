// SPDX-License-Identifier: BSD-3-Clause
//
// An errgroup from WaitGroup, Once and a context: the first error cancels the others.
//
// scenario: ctx; wg.add 3; go T(1..3); wg.wait; print first error. T(i): if i==2
// {sleep 3ms; once {err=i; cancel}; print fail i} else select {after 50ms: print done
// i; ctx.done: print cancelled i}; wg.done.

package main

import (
	"context"
	"sync"
	"time"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var once sync.Once
	failed := 0
	wg.Add(3)
	for i := 1; i <= 3; i++ {
		i := i
		go func() {
			defer wg.Done()
			if i == 2 {
				time.Sleep(3 * ms)
				once.Do(func() { failed = i; cancel() })
				p("fail", i)
				return
			}
			select {
			case <-time.After(50 * ms):
				p("done", i)
			case <-ctx.Done():
				p("cancelled", i)
			}
		}()
	}
	wg.Wait()
	p("first error from", failed)
	flush()
}
