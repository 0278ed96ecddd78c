// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

// What it has found under the lock may be otherwise when it takes the lock again to wait.
func main() {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	ready := false
	done := make(chan bool)
	go func() {
		mu.Lock()
		is := ready
		mu.Unlock()
		if !is {
			mu.Lock()
			c.Wait()
			mu.Unlock()
		}
		done <- true
	}()
	time.Sleep(2 * time.Millisecond)
	mu.Lock()
	ready = true
	c.Signal()
	mu.Unlock()
	<-done
}
