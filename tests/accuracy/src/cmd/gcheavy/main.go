// SPDX-License-Identifier: BSD-3-Clause

// gcheavy: goroutines build and drop binary trees next to a long-lived live
// set, so that several collections (and mark assists) happen.
package main

import (
	"context"
	"sync"

	"accuracy/bench"
)

type node struct {
	l, r *node
	v    uint64
	pad  [2]uint64
}

// build makes a complete binary tree of depth d bottom-up, without recursion:
// recursion would give every allocation its own call stack and fill the trace
// with stack records.
func build(d int, v uint64) *node {
	level := make([]*node, 1<<uint(d))
	for i := range level {
		level[i] = &node{v: v + uint64(i)}
	}
	for len(level) > 1 {
		for i := 0; i < len(level); i += 2 {
			level[i/2] = &node{l: level[i], r: level[i+1], v: level[i].v ^ level[i+1].v}
		}
		level = level[:len(level)/2]
	}
	return level[0]
}

// sum walks the tree with an explicit stack.
func (n *node) sum() uint64 {
	var s uint64
	stack := make([]*node, 0, 64)
	stack = append(stack, n)
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		s += x.v
		if x.l != nil {
			stack = append(stack, x.l, x.r)
		}
	}
	return s
}

func main() {
	bench.Main("gcheavy", bench.Config{Size: 240, Conc: 4, DurUS: 200}, func(c *bench.Config) *bench.Run {
		live := build(15, 1) // about 3 MB that every cycle has to mark
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go alloc(c, g, &wg)
			}
			wg.Wait()
			bench.Sink += live.sum()
			return int64(c.Size)
		}}
	})
}

func alloc(c *bench.Config, g int, wg *sync.WaitGroup) {
	defer wg.Done()
	keep := make([]*node, 4)
	var s uint64
	for i := g; i < c.Size; i += c.Conc {
		t := build(12, uint64(i))
		keep[(i/c.Conc)%len(keep)] = t
		s += t.sum() + bench.Work(c.DurUS)
	}
	if s == 1 {
		panic("unlikely")
	}
}
