// SPDX-License-Identifier: BSD-3-Clause

// wordcount: texts are cut into words and counted in maps of one's own, which are put together in
// pairs; it allocates.
package main

import (
	"context"
	"strings"
	"sync"

	"accuracy/bench"
)

func text(c *bench.Config, i int) string {
	var b strings.Builder
	for w := 0; w < 400; w++ {
		h := bench.Hash(c.Seed, i*400+w)
		for n := 0; n < 3+int(h%3); n++ {
			b.WriteByte(byte('a' + (h>>(8*n))%6))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func count(c *bench.Config, from, to int) map[string]int {
	m := map[string]int{}
	for i := from; i < to; i++ {
		for _, w := range strings.Fields(text(c, i)) {
			m[w]++
		}
	}
	return m
}

func merge(a, b map[string]int) map[string]int {
	for w, n := range b {
		a[w] += n
	}
	return a
}

func tree(c *bench.Config, from, to int) map[string]int {
	if to-from <= c.Size/c.Conc {
		return count(c, from, to)
	}
	var left, right map[string]int
	var wg sync.WaitGroup
	mid := (from + to) / 2
	wg.Add(2)
	go func() {
		defer wg.Done()
		left = tree(c, from, mid)
	}()
	go func() {
		defer wg.Done()
		right = tree(c, mid, to)
	}()
	wg.Wait()
	return merge(left, right)
}

func main() {
	bench.Main("wordcount", bench.Config{Size: 1600, Conc: 16}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 { return int64(len(tree(c, 0, c.Size))) }}
	})
}
