// SPDX-License-Identifier: BSD-3-Clause

// fanout: a root hands Size tasks to a goroutine each, Conc at a time (a semaphore channel), and
// collects the results.
package main

import (
	"context"

	"accuracy/bench"
)

func main() {
	bench.Main("fanout", bench.Config{Size: 2000, Conc: 16, DurUS: 50}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			sem := make(chan struct{}, c.Conc)
			out := make(chan uint64)
			go func() {
				for i := 0; i < c.Size; i++ {
					sem <- struct{}{}
					go task(c, i, sem, out)
				}
			}()
			var sum uint64
			for i := 0; i < c.Size; i++ {
				sum += <-out
			}
			bench.Sink = sum
			return int64(c.Size)
		}}
	})
}

func task(c *bench.Config, i int, sem chan struct{}, out chan uint64) {
	v := bench.Work(bench.Vary(c.Seed, i, c.DurUS))
	<-sem
	out <- v
}
