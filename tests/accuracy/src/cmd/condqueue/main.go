// SPDX-License-Identifier: BSD-3-Clause

// condqueue: a queue with a bound, of a slice, a Mutex and two Conds; some put in, some take out.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

type queue struct {
	mu                sync.Mutex
	notEmpty, notFull *sync.Cond
	items             []int
	max               int
	closed            bool
}

func newQueue(max int) *queue {
	q := &queue{max: max}
	q.notEmpty = sync.NewCond(&q.mu)
	q.notFull = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == q.max {
		q.notFull.Wait()
	}
	q.items = append(q.items, i)
	q.notEmpty.Signal()
}

func (q *queue) take() (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.notEmpty.Wait()
	}
	if len(q.items) == 0 {
		return 0, false
	}
	i := q.items[0]
	q.items = q.items[1:]
	q.notFull.Signal()
	return i, true
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.notEmpty.Broadcast()
}

func main() {
	bench.Main("condqueue", bench.Config{Size: 4000, Conc: 4, DurUS: 20}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			q := newQueue(16)
			var in, out sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				in.Add(1)
				out.Add(1)
				go func(g int) {
					defer in.Done()
					for i := g; i < c.Size; i += c.Conc {
						bench.Work(bench.Vary(c.Seed, i, c.DurUS/4))
						q.put(i)
					}
				}(g)
				go func() {
					defer out.Done()
					for {
						i, ok := q.take()
						if !ok {
							return
						}
						bench.Work(bench.Vary(c.Seed+1, i, c.DurUS))
					}
				}()
			}
			in.Wait()
			q.close()
			out.Wait()
			return int64(c.Size)
		}}
	})
}
