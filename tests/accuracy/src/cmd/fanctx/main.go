// SPDX-License-Identifier: BSD-3-Clause

// fanctx: a request asks several backends at once; the first mistake cancels the others, which look
// at their context between steps.
package main

import (
	"context"
	"errors"
	"sync"

	"accuracy/bench"
)

var errBackend = errors.New("backend")

type group struct {
	wg     sync.WaitGroup
	once   sync.Once
	err    error
	cancel context.CancelFunc
}

func (g *group) run(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		if err := f(); err != nil {
			g.once.Do(func() {
				g.err = err
				g.cancel()
			})
		}
	}()
}

func (g *group) wait() error {
	g.wg.Wait()
	g.cancel()
	return g.err
}

func ask(ctx context.Context, c *bench.Config, n int) error {
	for step := 0; step < 4; step++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		bench.Work(bench.Vary(c.Seed, n+step, c.DurUS))
	}
	if bench.Hash(c.Seed+3, n)%25 == 0 {
		return errBackend
	}
	return nil
}

func request(ctx context.Context, c *bench.Config, i int) error {
	ctx, cancel := context.WithCancel(ctx)
	g := &group{cancel: cancel}
	for b := 0; b < 5; b++ {
		n := i*32 + b*6
		g.run(func() error { return ask(ctx, c, n) })
	}
	return g.wait()
}

func main() {
	bench.Main("fanctx", bench.Config{Size: 400, Conc: 3, DurUS: 15}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						_ = request(ctx, c, i)
					}
				}(g)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
