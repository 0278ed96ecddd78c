// SPDX-License-Identifier: BSD-3-Clause

// pipehttp: net/http between Conc clients and a server whose connections are net.Pipe.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"accuracy/bench"
)

type listener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { close(l.done); return nil }
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (l *listener) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func main() {
	bench.Main("pipehttp", bench.Config{Size: 1200, Conc: 6, DurUS: 30}, func(c *bench.Config) *bench.Run {
		l := &listener{make(chan net.Conn), make(chan struct{})}
		mux := http.NewServeMux()
		mux.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
			i, _ := strconv.Atoi(r.URL.Query().Get("i"))
			fmt.Fprintln(w, bench.Work(bench.Vary(c.Seed, i, c.DurUS)))
		})
		server := &http.Server{Handler: mux}
		go server.Serve(l)
		client := &http.Client{Transport: &http.Transport{DialContext: l.dial, MaxIdleConnsPerHost: c.Conc}}
		return &bench.Run{Done: func() { server.Close() }, Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go func(g int) {
					defer wg.Done()
					for i := g; i < c.Size; i += c.Conc {
						r, err := client.Get("http://pipe/work?i=" + strconv.Itoa(i))
						bench.Check(err)
						_, err = io.Copy(io.Discard, r.Body)
						bench.Check(err)
						r.Body.Close()
					}
				}(g)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}
