// SPDX-License-Identifier: BSD-3-Clause

// tokens: a bucket that a ticker fills and that is full at ten; who calls takes a token first.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type bucket struct {
	tokens chan struct{}
	stop   chan struct{}
}

func (b *bucket) fill(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			for i := 0; i < 4; i++ {
				select {
				case b.tokens <- struct{}{}:
				default:
				}
			}
		case <-b.stop:
			return
		}
	}
}

func main() {
	bench.Main("tokens", bench.Config{Size: 600, Conc: 12, DurUS: 150}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			b := &bucket{make(chan struct{}, 10), make(chan struct{})}
			go b.fill(500 * time.Microsecond)
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						<-b.tokens
						bench.Work(bench.Vary(c.Seed, i, c.DurUS))
					}
				}(g)
			}
			wg.Wait()
			close(b.stop)
			return int64(c.Size)
		}}
	})
}
