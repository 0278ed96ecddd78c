// SPDX-License-Identifier: BSD-3-Clause

// etl: rows are read, parsed by some, put together in batches and written, with bounded channels in
// between.
package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"accuracy/bench"
)

type row struct {
	key   string
	value int
}

func read(c *bench.Config, lines chan<- string) {
	defer close(lines)
	for i := 0; i < c.Size; i++ {
		bench.Work(2)
		lines <- fmt.Sprintf("k%d,%d", bench.Hash(c.Seed, i)%50, i)
	}
}

func parse(c *bench.Config, lines <-chan string, rows chan<- row) {
	for line := range lines {
		part := strings.SplitN(line, ",", 2)
		n, err := strconv.Atoi(part[1])
		bench.Check(err)
		bench.Work(bench.Vary(c.Seed, n, c.DurUS))
		rows <- row{part[0], n}
	}
}

func batch(rows <-chan row, batches chan<- map[string]int) {
	defer close(batches)
	m := map[string]int{}
	for r := range rows {
		m[r.key] += r.value
		if len(m) == 40 {
			batches <- m
			m = map[string]int{}
		}
	}
	batches <- m
}

func write(batches <-chan map[string]int) (n int64) {
	for b := range batches {
		bench.Work(8 * len(b))
		n += int64(len(b))
	}
	return n
}

func main() {
	bench.Main("etl", bench.Config{Size: 6000, Conc: 4, DurUS: 15}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			lines, rows := make(chan string, 32), make(chan row, 32)
			batches := make(chan map[string]int, 2)
			var wg sync.WaitGroup
			go read(c, lines)
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func() {
					defer wg.Done()
					parse(c, lines, rows)
				}()
			}
			go func() {
				wg.Wait()
				close(rows)
			}()
			go batch(rows, batches)
			return write(batches)
		}}
	})
}
