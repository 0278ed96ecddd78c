// SPDX-License-Identifier: BSD-3-Clause

// netpipe: clients and a server that speak JSON over connections in memory (net.Pipe).
package main

import (
	"context"
	"encoding/json"
	"net"
	"sync"

	"accuracy/bench"
)

type request struct {
	ID   int
	Path string
}

type answer struct {
	ID     int
	Status int
	Body   []int
}

func serve(c *bench.Config, conn net.Conn) {
	defer conn.Close()
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	for {
		var r request
		if in.Decode(&r) != nil {
			return
		}
		bench.Work(bench.Vary(c.Seed, r.ID, c.DurUS))
		bench.Check(out.Encode(answer{r.ID, 200, make([]int, 10)}))
	}
}

func client(c *bench.Config, conn net.Conn, g int) {
	defer conn.Close()
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	for i := g; i < c.Size; i += c.Conc {
		bench.Check(out.Encode(request{i, "/item"}))
		var a answer
		bench.Check(in.Decode(&a))
		bench.Work(bench.Vary(c.Seed+1, a.ID, c.DurUS/3))
	}
}

func main() {
	bench.Main("netpipe", bench.Config{Size: 2500, Conc: 6, DurUS: 20}, func(c *bench.Config) *bench.Run {
		return &bench.Run{Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				near, far := net.Pipe()
				wg.Add(2)
				go func() {
					defer wg.Done()
					serve(c, far)
				}()
				go func(g int) {
					defer wg.Done()
					client(c, near, g)
				}(g)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
