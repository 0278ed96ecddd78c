// SPDX-License-Identifier: BSD-3-Clause

// batcher: sources in bursts, one that gathers what comes until it has 32 or 400 us are over, Conc
// that encode the batches, and one that puts them away.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

func source(c *bench.Config, from, step int, out chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := from; i < c.Size; i += step {
		bench.Work(bench.Vary(c.Seed, i, 4))
		out <- i
		if i%60 == from {
			time.Sleep(time.Millisecond)
		}
	}
}

func gather(in <-chan int, out chan<- []int) {
	defer close(out)
	var batch []int
	timer := time.NewTimer(time.Hour)
	flush := func() {
		if len(batch) > 0 {
			out <- batch
			batch = nil
		}
	}
	for {
		select {
		case i, ok := <-in:
			if !ok {
				flush()
				return
			}
			if len(batch) == 0 {
				if !timer.Stop() {
					select {
					case <-timer.C:
					default:
					}
				}
				timer.Reset(400 * time.Microsecond)
			}
			if batch = append(batch, i); len(batch) == 32 {
				flush()
			}
		case <-timer.C:
			flush()
		}
	}
}

func main() {
	bench.Main("batcher", bench.Config{Size: 4000, Conc: 3, DurUS: 12}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			in, batches, done := make(chan int, 8), make(chan []int), make(chan int, 2)
			var sources, encoders sync.WaitGroup
			for s := 0; s < 3; s++ {
				sources.Add(1)
				go source(c, s, 3, in, &sources)
			}
			go gather(in, batches)
			for e := 0; e < c.Conc; e++ {
				encoders.Add(1)
				go func() {
					defer encoders.Done()
					for b := range batches {
						for _, i := range b {
							bench.Work(bench.Vary(c.Seed+1, i, c.DurUS))
						}
						done <- len(b)
					}
				}()
			}
			go func() { sources.Wait(); close(in); encoders.Wait(); close(done) }()
			n := 0
			for k := range done {
				bench.Work(20)
				n += k
			}
			return int64(n)
		}}
	})
}
