// SPDX-License-Identifier: BSD-3-Clause

// preempt: Conc goroutines run call-free CPU loops (only asynchronous
// preemption can stop them) while two latency-sensitive goroutines sleep 1 ms
// at a time and record how late they woke up.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

func main() {
	bench.Main("preempt", bench.Config{Size: 30, Conc: 4, DurUS: 40000}, func(c *bench.Config) *bench.Run {
		const pingers = 2
		late := bench.NewRec("wake_lateness", pingers*c.Size)
		return &bench.Run{Lat: []*bench.Rec{late}, Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go hog(c, g, &wg)
			}
			for k := 0; k < pingers; k++ {
				wg.Add(1)
				go pinger(c, k, late, &wg)
			}
			wg.Wait()
			return int64(c.Conc + pingers*c.Size)
		}}
	})
}

func hog(c *bench.Config, g int, wg *sync.WaitGroup) {
	s := bench.Work(c.DurUS)
	if s == 1 {
		panic("unlikely")
	}
	wg.Done()
}

func pinger(c *bench.Config, k int, late *bench.Rec, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := 0; i < c.Size; i++ {
		t := time.Now()
		time.Sleep(time.Millisecond)
		late.V[k*c.Size+i] = int64(time.Since(t) - time.Millisecond)
		bench.Work(20)
	}
}
