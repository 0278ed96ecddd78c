// SPDX-License-Identifier: BSD-3-Clause

// mutex: Conc goroutines contend for one sync.Mutex; half of the CPU work is
// inside the critical section.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

func main() {
	bench.Main("mutex", bench.Config{Size: 12000, Conc: 8, DurUS: 6}, func(c *bench.Config) *bench.Run {
		lat := bench.NewRec("lock_wait", c.Size)
		return &bench.Run{Lat: []*bench.Rec{lat}, Do: func(ctx context.Context) int64 {
			var mu sync.Mutex
			var shared uint64
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go contender(c, g, &mu, &shared, lat, &wg)
			}
			wg.Wait()
			bench.Sink = shared
			return int64(c.Size)
		}}
	})
}

func contender(c *bench.Config, g int, mu *sync.Mutex, shared *uint64, lat *bench.Rec, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := g; i < c.Size; i += c.Conc {
		local := bench.Work(bench.Vary(c.Seed, i, c.DurUS))
		t := time.Now()
		mu.Lock()
		lat.V[i] = int64(time.Since(t))
		*shared += local + bench.Work(bench.Vary(c.Seed+7, i, c.DurUS))
		mu.Unlock()
	}
}
