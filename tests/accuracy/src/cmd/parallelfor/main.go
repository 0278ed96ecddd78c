// SPDX-License-Identifier: BSD-3-Clause

// parallelfor: rounds of a loop over an image whose rows are dealt by an atomic counter, of unequal
// cost; the last round's result is read by one that goes over all of it.
package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"accuracy/bench"
)

func parallel(n int, body func(int)) {
	var next int64 = -1
	var wg sync.WaitGroup
	for w := 0; w < runtime.GOMAXPROCS(0); w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := int(atomic.AddInt64(&next, 1)); i < n; i = int(atomic.AddInt64(&next, 1)) {
				body(i)
			}
		}()
	}
	wg.Wait()
}

func main() {
	bench.Main("parallelfor", bench.Config{Size: 40, Conc: 64, DurUS: 30}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			image := make([]uint64, c.Conc)
			for round := 0; round < c.Size; round++ {
				parallel(len(image), func(row int) {
					image[row] ^= bench.Work(bench.Vary(c.Seed, round*row, c.DurUS+row/4))
				})
				for _, v := range image {
					bench.Sink += v
				}
				bench.Work(100)
			}
			return int64(c.Size)
		}}
	})
}
