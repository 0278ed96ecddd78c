// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); mu.Lock(); c.Wait(); mu.Unlock() }()
	time.Sleep(2 * time.Millisecond)
	mu.Lock()
	c.Signal()
	mu.Unlock()
	wg.Wait()
}
