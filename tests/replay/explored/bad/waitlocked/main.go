// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type server struct {
	mu   sync.Mutex
	wg   sync.WaitGroup
	jobs int
}

func (s *server) work() {
	defer s.wg.Done()
	s.mu.Lock()
	s.jobs++
	s.mu.Unlock()
}

func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wg.Wait()
	s.jobs = 0
}

func main() {
	s := &server{}
	for i := 0; i < 3; i++ {
		s.wg.Add(1)
		go s.work()
	}
	time.Sleep(2 * time.Millisecond)
	s.stop()
}
