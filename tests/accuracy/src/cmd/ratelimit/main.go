// SPDX-License-Identifier: BSD-3-Clause

// ratelimit: many short goroutines, of which Conc at a time hold a token of a channel.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

func main() {
	bench.Main("ratelimit", bench.Config{Size: 1500, Conc: 3, DurUS: 50}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			tokens := make(chan struct{}, c.Conc)
			var wg sync.WaitGroup
			var mu sync.Mutex
			sum := uint64(0)
			for i := 0; i < c.Size; i++ {
				wg.Add(1)
				tokens <- struct{}{}
				go func(i int) {
					defer wg.Done()
					x := bench.Work(bench.Vary(c.Seed, i, c.DurUS))
					mu.Lock()
					sum += x
					mu.Unlock()
					<-tokens
				}(i)
			}
			wg.Wait()
			bench.Sink = sum
			return int64(c.Size)
		}}
	})
}
