// SPDX-License-Identifier: BSD-3-Clause

// boundedbuf: a ring of 16 behind a mutex with two Conds, Conc producers, two consumers.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

type buffer struct {
	mu                sync.Mutex
	notFull, notEmpty sync.Cond
	ring              [16]int
	from, n           int
}

func (b *buffer) put(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.n == len(b.ring) {
		b.notFull.Wait()
	}
	b.ring[(b.from+b.n)%len(b.ring)] = i
	b.n++
	b.notEmpty.Signal()
}

func (b *buffer) get() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.n == 0 {
		b.notEmpty.Wait()
	}
	i := b.ring[b.from]
	b.from = (b.from + 1) % len(b.ring)
	b.n--
	b.notFull.Signal()
	return i
}

func main() {
	bench.Main("boundedbuf", bench.Config{Size: 4000, Conc: 5, DurUS: 24}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			b := &buffer{}
			b.notFull.L, b.notEmpty.L = &b.mu, &b.mu
			var wg sync.WaitGroup
			for p := 0; p < c.Conc; p++ {
				wg.Add(1)
				go func(p int) {
					defer wg.Done()
					for i := p; i < c.Size; i += c.Conc {
						bench.Work(bench.Vary(c.Seed, i, c.DurUS))
						b.put(i)
					}
				}(p)
			}
			for k := 0; k < 2; k++ {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := 0; i < c.Size/2; i++ {
						bench.Work(bench.Vary(c.Seed+1, b.get(), 14))
					}
				}()
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
