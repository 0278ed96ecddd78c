// SPDX-License-Identifier: BSD-3-Clause

// tcplines: a server of lines on loopback, a goroutine per connection; Conc clients send several
// requests before they read the answers.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"accuracy/bench"
)

func serve(c *bench.Config, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			in, out := bufio.NewScanner(conn), bufio.NewWriter(conn)
			for in.Scan() {
				i, _ := strconv.Atoi(in.Text())
				fmt.Fprintln(out, bench.Work(bench.Vary(c.Seed, i, c.DurUS)))
				out.Flush()
			}
		}()
	}
}

func client(c *bench.Config, addr string, g int, wg *sync.WaitGroup) {
	defer wg.Done()
	conn, err := net.Dial("tcp", addr)
	bench.Check(err)
	defer conn.Close()
	in := bufio.NewScanner(conn)
	const window = 5
	for i := g * window; i < c.Size; i += c.Conc * window {
		var b strings.Builder
		for k := 0; k < window; k++ {
			fmt.Fprintln(&b, i+k)
		}
		_, err := conn.Write([]byte(b.String()))
		bench.Check(err)
		for k := 0; k < window && in.Scan(); k++ {
			bench.Work(4)
		}
	}
}

func main() {
	bench.Main("tcplines", bench.Config{Size: 2000, Conc: 5, DurUS: 25}, func(c *bench.Config) *bench.Run {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		bench.Check(err)
		go serve(c, l)
		return &bench.Run{Done: func() { l.Close() }, Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go client(c, l.Addr().String(), g, &wg)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
