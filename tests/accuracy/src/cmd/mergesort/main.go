// SPDX-License-Identifier: BSD-3-Clause

// mergesort: a tree of goroutines, each waits for its two halves; leaves cost most.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

func sort(c *bench.Config, i, depth int) {
	if depth == 0 {
		bench.Work(bench.Vary(c.Seed, i, c.DurUS))
		return
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		sort(c, 2*i, depth-1)
	}()
	sort(c, 2*i+1, depth-1)
	wg.Wait()
	bench.Work(4 << depth)
}

func main() {
	bench.Main("mergesort", bench.Config{Size: 8, Conc: 7, DurUS: 60}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			for i := 0; i < c.Size; i++ {
				sort(c, 1, c.Conc)
			}
			return int64(c.Size)
		}}
	})
}
