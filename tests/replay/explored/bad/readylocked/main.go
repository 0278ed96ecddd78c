// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	var mu sync.Mutex
	ready := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		mu.Lock()
		println(1)
		mu.Unlock()
		close(ready)
	}()
	go func() {
		defer wg.Done()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		<-ready
		mu.Unlock()
	}()
	wg.Wait()
}
