// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func() {
			time.Sleep(time.Millisecond)
			wg.Done()
		}()
	}
	wg.Wait()
}
