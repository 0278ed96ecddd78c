// SPDX-License-Identifier: BSD-3-Clause

// sortpool: quicksort of which each half may be another goroutine's, as long as there is room.
package main

import (
	"context"
	"sort"
	"sync"

	"accuracy/bench"
)

func split(v []uint64) int {
	pivot, k := v[len(v)/2], 0
	v[len(v)/2], v[len(v)-1] = v[len(v)-1], v[len(v)/2]
	for i := 0; i < len(v)-1; i++ {
		if v[i] < pivot {
			v[i], v[k] = v[k], v[i]
			k++
		}
	}
	v[k], v[len(v)-1] = v[len(v)-1], v[k]
	return k
}

func quick(v []uint64, room chan struct{}, wg *sync.WaitGroup) {
	defer wg.Done()
	for len(v) > 4000 {
		k := split(v)
		left := v[:k]
		v = v[k+1:]
		wg.Add(1)
		select {
		case room <- struct{}{}:
			go func() {
				quick(left, room, wg)
				<-room
			}()
		default:
			quick(left, room, wg)
		}
	}
	sort.Slice(v, func(i, j int) bool { return v[i] < v[j] })
}

func main() {
	bench.Main("sortpool", bench.Config{Size: 500000, Conc: 6}, func(c *bench.Config) *bench.Run {
		v := make([]uint64, c.Size)
		for i := range v {
			v[i] = bench.Hash(c.Seed, i)
		}
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			wg.Add(1)
			quick(v, make(chan struct{}, c.Conc), &wg)
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
