// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"runtime"
	"sync"
)

// The runtime uses channels of its own when it starts the collector's workers.
func main() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var kept [][]byte
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := 0; k < 3; k++ {
				mu.Lock()
				kept = append(kept, make([]byte, 1<<16))
				mu.Unlock()
			}
		}()
	}
	runtime.GC()
	wg.Wait()
	runtime.GC()
}
