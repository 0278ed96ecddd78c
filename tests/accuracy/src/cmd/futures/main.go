// SPDX-License-Identifier: BSD-3-Clause

// futures: clients put requests with a channel for the answer into the queue of a pool of Conc
// workers, and wait for the answer or for the end of the context.
package main

import (
	"context"
	"errors"
	"sync"

	"accuracy/bench"
)

type answer struct {
	sum uint64
	err error
}

type request struct {
	id    int
	reply chan answer
}

type pool struct {
	queue chan request
	wg    sync.WaitGroup
}

func newPool(c *bench.Config) *pool {
	p := &pool{queue: make(chan request, 4)}
	for i := 0; i < c.Conc; i++ {
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			for r := range p.queue {
				a := answer{sum: bench.Work(bench.Vary(c.Seed, r.id, c.DurUS))}
				if r.id%17 == 0 {
					a.err = errors.New("no such thing")
				}
				r.reply <- a
			}
		}()
	}
	return p
}

func (p *pool) do(ctx context.Context, id int) (uint64, error) {
	r := request{id, make(chan answer, 1)}
	select {
	case p.queue <- r:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case a := <-r.reply:
		return a.sum, a.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func main() {
	bench.Main("futures", bench.Config{Size: 2500, Conc: 4, DurUS: 35}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			p := newPool(c)
			const clients = 10
			var wg sync.WaitGroup
			var failed [clients]int
			for i := 0; i < clients; i++ {
				wg.Add(1)
				go func(i int) {
					defer wg.Done()
					for id := i; id < c.Size; id += clients {
						if _, err := p.do(ctx, id); err != nil {
							failed[i]++
							continue
						}
						bench.Work(6)
					}
				}(i)
			}
			wg.Wait()
			close(p.queue)
			p.wg.Wait()
			return int64(c.Size)
		}}
	})
}
