// SPDX-License-Identifier: BSD-3-Clause

// retry: Conc clients call something that fails every third time and is slow every tenth; each call
// has a deadline, each failure a longer pause before the next try.
package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"accuracy/bench"
)

var errBusy = errors.New("busy")

func backend(ctx context.Context, c *bench.Config, i, try int) error {
	bench.Work(bench.Vary(c.Seed, i+try, c.DurUS))
	h := bench.Hash(c.Seed+7, i*8+try)
	if h%10 == 0 {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if h%3 == 0 && try < 4 {
		return errBusy
	}
	return nil
}

func call(c *bench.Config, i int) (tries int) {
	pause := 150 * time.Microsecond
	for try := 0; try < 6; try++ {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		err := backend(ctx, c, i, try)
		cancel()
		if err == nil {
			return try + 1
		}
		time.Sleep(pause)
		pause *= 2
	}
	return 6
}

func main() {
	bench.Main("retry", bench.Config{Size: 900, Conc: 16, DurUS: 60}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			work := make(chan int)
			var mu sync.Mutex
			histogram := map[int]int{}
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := range work {
						n := call(c, i)
						mu.Lock()
						histogram[n]++
						mu.Unlock()
					}
				}()
			}
			for i := 0; i < c.Size; i++ {
				work <- i
			}
			close(work)
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
