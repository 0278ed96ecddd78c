// SPDX-License-Identifier: BSD-3-Clause

// workerpool: a dispatcher feeds jobs to N workers over a channel, a collector
// drains the results. Jobs differ in cost (factor 3).
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

type job struct {
	id  int
	us  int
	sub time.Time
}

type result struct {
	id  int
	sum uint64
	sub time.Time
}

func main() {
	bench.Main("workerpool", bench.Config{Size: 4000, Conc: 8, DurUS: 40}, func(c *bench.Config) *bench.Run {
		lat := bench.NewRec("submit_to_collect", c.Size)
		return &bench.Run{Lat: []*bench.Rec{lat}, Do: func(ctx context.Context) int64 {
			jobs := make(chan job, 16)
			results := make(chan result, 16)
			var wg sync.WaitGroup
			for w := 0; w < c.Conc; w++ {
				wg.Add(1)
				go worker(jobs, results, &wg)
			}
			go dispatch(c, jobs)
			go closeWhenDone(&wg, results)
			var n int64
			var sum uint64
			for r := range results {
				lat.V[r.id] = int64(time.Since(r.sub))
				sum += r.sum
				n++
			}
			bench.Sink = sum
			return n
		}}
	})
}

func dispatch(c *bench.Config, jobs chan<- job) {
	for i := 0; i < c.Size; i++ {
		jobs <- job{id: i, us: bench.Vary(c.Seed, i, c.DurUS), sub: time.Now()}
	}
	close(jobs)
}

func worker(jobs <-chan job, results chan<- result, wg *sync.WaitGroup) {
	defer wg.Done()
	for j := range jobs {
		results <- result{j.id, bench.Work(j.us), j.sub}
	}
}

func closeWhenDone(wg *sync.WaitGroup, results chan result) {
	wg.Wait()
	close(results)
}
