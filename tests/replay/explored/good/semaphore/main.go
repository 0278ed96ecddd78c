// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
)

func main() {
	slots := make(chan struct{}, 2)
	var wg sync.WaitGroup
	var mu sync.Mutex
	n := 0
	for i := 0; i < 5; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			mu.Lock()
			n++
			mu.Unlock()
		}()
	}
	wg.Wait()
	println(n)
}
