// SPDX-License-Identifier: BSD-3-Clause

// shop: an HTTP service and its clients in one process. Eight clients ask for pages, one after the
// other; a page is some computing, and a look into a cache behind a lock.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"time"
)

type shop struct {
	mu    sync.Mutex
	pages map[int][32]byte
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer trace.StartRegion(r.Context(), "page").End()
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	sum := sha256.Sum256([]byte(r.URL.Path))
	for i := 0; i < 1000; i++ {
		sum = sha256.Sum256(sum[:])
	}
	s.mu.Lock()
	s.pages[n%100] = sum
	s.mu.Unlock()
	fmt.Fprintf(w, "%x", sum)
}

func ask(url string, requests int) {
	client := &http.Client{Transport: &http.Transport{}}
	for i := 0; i < requests; i++ {
		resp, err := client.Get(fmt.Sprintf("%s/page?n=%d", url, i))
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func main() {
	requests, _ := strconv.Atoi(os.Args[1])
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, &shop{pages: map[int][32]byte{}})
	region, start := trace.StartRegion(context.Background(), "load"), time.Now()
	var clients sync.WaitGroup
	for c := 0; c < 8; c++ {
		clients.Add(1)
		go func() { defer clients.Done(); ask("http://"+l.Addr().String(), requests/8) }()
	}
	clients.Wait()
	region.End()
	fmt.Println(requests, "requests in", time.Since(start).Round(100*time.Microsecond))
}
