// SPDX-License-Identifier: BSD-3-Clause

// pipeline: items flow through Conc stages connected by small buffered
// channels; the middle stage is the bottleneck.
package main

import (
	"context"
	"time"

	"accuracy/bench"
)

type item struct {
	id  int
	v   uint64
	in  time.Time
	lat int64
}

func main() {
	bench.Main("pipeline", bench.Config{Size: 3000, Conc: 5, DurUS: 10}, func(c *bench.Config) *bench.Run {
		lat := bench.NewRec("end_to_end", c.Size)
		return &bench.Run{Lat: []*bench.Rec{lat}, Do: func(ctx context.Context) int64 {
			first := make(chan item, 4)
			go source(c, first)
			in := first
			for s := 0; s < c.Conc; s++ {
				out := make(chan item, 4)
				us := c.DurUS
				if s == c.Conc/2 {
					us *= 2
				}
				go stage(c, s, us, in, out)
				in = out
			}
			var n int64
			var sum uint64
			for it := range in {
				lat.V[it.id] = int64(time.Since(it.in))
				sum += it.v
				n++
			}
			bench.Sink = sum
			return n
		}}
	})
}

func source(c *bench.Config, out chan<- item) {
	for i := 0; i < c.Size; i++ {
		out <- item{id: i, in: time.Now()}
	}
	close(out)
}

func stage(c *bench.Config, s, us int, in <-chan item, out chan<- item) {
	for it := range in {
		it.v += bench.Work(bench.Vary(c.Seed+uint64(s), it.id, us))
		out <- it
	}
	close(out)
}
