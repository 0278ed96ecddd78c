// SPDX-License-Identifier: BSD-3-Clause

// actors: a ring of Conc actors with mailboxes; tokens go round, each stop takes work; a supervisor
// asks all of them for their counts by the clock.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type actor struct {
	mail chan int
	ask  chan chan int
}

func (a *actor) live(c *bench.Config, next *actor, quit <-chan struct{}, out chan<- int) {
	count := 0
	for {
		select {
		case left := <-a.mail:
			bench.Work(bench.Vary(c.Seed, left, c.DurUS))
			count++
			if left == 0 {
				out <- count
				continue
			}
			next.mail <- left - 1
		case reply := <-a.ask:
			reply <- count
		case <-quit:
			return
		}
	}
}

func supervise(all []*actor, quit <-chan struct{}) {
	for {
		select {
		case <-time.After(2 * time.Millisecond):
			reply, sum := make(chan int, 1), 0
			for _, a := range all {
				a.ask <- reply
				sum += <-reply
			}
			bench.Work(10)
		case <-quit:
			return
		}
	}
}

func main() {
	bench.Main("actors", bench.Config{Size: 600, Conc: 12, DurUS: 25}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			const tokens = 7
			all := make([]*actor, c.Conc)
			for i := range all {
				all[i] = &actor{make(chan int, tokens), make(chan chan int)}
			}
			quit, out := make(chan struct{}), make(chan int)
			var wg, supervisor sync.WaitGroup
			for i, a := range all {
				wg.Add(1)
				go func(a, next *actor) {
					defer wg.Done()
					a.live(c, next, quit, out)
				}(a, all[(i+1)%len(all)])
			}
			stop := make(chan struct{})
			supervisor.Add(1)
			go func() { defer supervisor.Done(); supervise(all, stop) }()
			for t := 0; t < tokens; t++ {
				all[t].mail <- c.Size - 40*t
			}
			for t := 0; t < tokens; t++ {
				<-out
			}
			close(stop)
			supervisor.Wait()
			close(quit)
			wg.Wait()
			return tokens
		}}
	})
}
