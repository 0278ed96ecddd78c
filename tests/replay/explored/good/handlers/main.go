// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

type store struct {
	mu, stats sync.Mutex
	hits      int
	values    map[string]string
}

func (s *store) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Lock()
	s.hits++
	s.stats.Unlock()
	io.WriteString(w, s.values["a"])
}

func (s *store) report(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := len(s.values)
	s.mu.Unlock()
	s.stats.Lock()
	defer s.stats.Unlock()
	w.WriteHeader(200 + n)
}

func ask(url string) {
	r, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
}

func main() {
	s := &store{values: map[string]string{"a": "b"}}
	mux := http.NewServeMux()
	mux.HandleFunc("/get", s.get)
	mux.HandleFunc("/report", s.report)
	server := httptest.NewServer(mux)
	http.DefaultTransport.(*http.Transport).DisableKeepAlives = true
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		ask(server.URL + "/get")
	}()
	time.Sleep(5 * time.Millisecond)
	go func() {
		defer wg.Done()
		ask(server.URL + "/report")
	}()
	wg.Wait()
	server.Close()
}
