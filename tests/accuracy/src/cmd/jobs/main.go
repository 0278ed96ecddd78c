// SPDX-License-Identifier: BSD-3-Clause

// jobs: a heap of jobs that are due some time, one goroutine that sleeps until the next is and hands
// it to workers; what a worker has done it may want done again later.
package main

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type job struct {
	id, again int
	due       time.Time
}

type byDue []job

func (h byDue) Len() int            { return len(h) }
func (h byDue) Less(i, j int) bool  { return h[i].due.Before(h[j].due) }
func (h byDue) Swap(i, j int)       { h[i], h[j] = h[j], h[i] }
func (h *byDue) Push(x interface{}) { *h = append(*h, x.(job)) }
func (h *byDue) Pop() interface{} {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

type queue struct {
	mu   sync.Mutex
	h    byDue
	kick chan struct{}
	out  chan job
	left sync.WaitGroup
}

func (q *queue) add(j job) {
	q.mu.Lock()
	heap.Push(&q.h, j)
	q.mu.Unlock()
	select {
	case q.kick <- struct{}{}:
	default:
	}
}

func (q *queue) run(stop chan struct{}) {
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	for {
		q.mu.Lock()
		var now []job
		for len(q.h) > 0 && !q.h[0].due.After(time.Now()) {
			now = append(now, heap.Pop(&q.h).(job))
		}
		next := time.Hour
		if len(q.h) > 0 {
			next = time.Until(q.h[0].due)
		}
		q.mu.Unlock()
		for _, j := range now {
			q.out <- j
		}
		t.Reset(next)
		select {
		case <-t.C:
		case <-q.kick:
		case <-stop:
			close(q.out)
			return
		}
	}
}

func main() {
	bench.Main("jobs", bench.Config{Size: 500, Conc: 4, DurUS: 80}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			q := &queue{kick: make(chan struct{}, 1), out: make(chan job, 16)}
			stop := make(chan struct{})
			go q.run(stop)
			for g := 0; g < c.Conc; g++ {
				go func() {
					for j := range q.out {
						bench.Work(bench.Vary(c.Seed, j.id, c.DurUS))
						if j.again > 0 {
							q.add(job{j.id, j.again - 1, time.Now().Add(3 * time.Millisecond)})
						} else {
							q.left.Done()
						}
					}
				}()
			}
			q.left.Add(c.Size)
			for i := 0; i < c.Size; i++ {
				wait := time.Duration(bench.Hash(c.Seed, i)%20000) * time.Microsecond
				q.add(job{i, i % 3, time.Now().Add(wait)})
			}
			q.left.Wait()
			close(stop)
			return int64(c.Size)
		}}
	})
}
