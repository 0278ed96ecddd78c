// SPDX-License-Identifier: BSD-3-Clause

// httpload: an HTTP server and Conc keep-alive clients in one process over
// loopback. Each handler burns CPU and writes a small JSON document.
package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"accuracy/bench"
)

type reply struct {
	ID   int      `json:"id"`
	Sum  uint64   `json:"sum"`
	Tags []string `json:"tags"`
}

func main() {
	bench.Main("httpload", bench.Config{Size: 1000, Conc: 8, DurUS: 100}, func(c *bench.Config) *bench.Run {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		bench.Check(err)
		mux := http.NewServeMux()
		mux.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
			id, _ := strconv.Atoi(r.URL.Query().Get("id"))
			s := bench.Work(bench.Vary(c.Seed, id, c.DurUS))
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(reply{id, s, []string{"a", "b", "c"}})
		})
		srv := &http.Server{Handler: mux}
		go srv.Serve(ln)
		base := "http://" + ln.Addr().String() + "/work?id="
		lat := bench.NewRec("request", c.Size)
		tr := &http.Transport{MaxIdleConnsPerHost: c.Conc, MaxConnsPerHost: c.Conc, DisableCompression: true}
		cl := &http.Client{Transport: tr}
		return &bench.Run{Lat: []*bench.Rec{lat}, Done: func() { srv.Close() }, Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for k := 0; k < c.Conc; k++ {
				wg.Add(1)
				go client(c, k, cl, base, lat, &wg)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}

func client(c *bench.Config, k int, cl *http.Client, base string, lat *bench.Rec, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := k; i < c.Size; i += c.Conc {
		t := time.Now()
		resp, err := cl.Get(base + strconv.Itoa(i))
		bench.Check(err)
		var r reply
		bench.Check(json.NewDecoder(resp.Body).Decode(&r))
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		lat.V[i] = int64(time.Since(t))
		if r.ID != i {
			panic("wrong reply")
		}
	}
}
