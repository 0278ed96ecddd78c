// SPDX-License-Identifier: BSD-3-Clause

// pubsub: a broker with a mutex and a cond; producers append, consumers wait on the cond.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

type queue struct {
	mu    sync.Mutex
	ready *sync.Cond
	items []int
	done  bool
}

func main() {
	bench.Main("pubsub", bench.Config{Size: 4000, Conc: 4, DurUS: 20}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			q := &queue{}
			q.ready = sync.NewCond(&q.mu)
			var consumers, producers sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				consumers.Add(1)
				go func() {
					defer consumers.Done()
					for {
						q.mu.Lock()
						for len(q.items) == 0 && !q.done {
							q.ready.Wait()
						}
						if len(q.items) == 0 {
							q.mu.Unlock()
							return
						}
						i := q.items[0]
						q.items = q.items[1:]
						q.mu.Unlock()
						bench.Work(bench.Vary(c.Seed, i, c.DurUS))
					}
				}()
			}
			for p := 0; p < 2; p++ {
				producers.Add(1)
				go func(p int) {
					defer producers.Done()
					for i := p; i < c.Size; i += 2 {
						bench.Work(5)
						q.mu.Lock()
						q.items = append(q.items, i)
						q.mu.Unlock()
						q.ready.Signal()
					}
				}(p)
			}
			producers.Wait()
			q.mu.Lock()
			q.done = true
			q.mu.Unlock()
			q.ready.Broadcast()
			consumers.Wait()
			return int64(c.Size)
		}}
	})
}
