// SPDX-License-Identifier: BSD-3-Clause

// pingpong: Conc pairs bounce a token over two unbuffered channels.
package main

import (
	"context"
	"sync"
	"time"

	"accuracy/bench"
)

func main() {
	bench.Main("pingpong", bench.Config{Size: 9000, Conc: 2, DurUS: 8}, func(c *bench.Config) *bench.Run {
		per := c.Size / c.Conc
		lat := bench.NewRec("round_trip", per*c.Conc)
		return &bench.Run{Lat: []*bench.Rec{lat}, Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for k := 0; k < c.Conc; k++ {
				a, b := make(chan int), make(chan int)
				wg.Add(2)
				go ping(c, k, per, a, b, lat, &wg)
				go pong(c, k, a, b, &wg)
			}
			wg.Wait()
			return int64(per * c.Conc)
		}}
	})
}

func ping(c *bench.Config, k, per int, a chan<- int, b <-chan int, lat *bench.Rec, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := 0; i < per; i++ {
		t := time.Now()
		a <- i
		<-b
		lat.V[k*per+i] = int64(time.Since(t))
		bench.Work(bench.Vary(c.Seed, i, c.DurUS))
	}
	close(a)
}

func pong(c *bench.Config, k int, a <-chan int, b chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := range a {
		bench.Work(bench.Vary(c.Seed+5, i, c.DurUS))
		b <- i
	}
}
