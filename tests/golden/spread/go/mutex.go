// SPDX-License-Identifier: BSD-3-Clause

// Five goroutines take a mutex twice for 10 us.
package main

import "sync"

func main() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	order := make(chan int, 10)
	wg.Add(5)
	for i := 1; i <= 5; i++ {
		go func(id int) {
			for k := 0; k < 2; k++ {
				mu.Lock()
				spin(10)
				order <- id
				mu.Unlock()
			}
			wg.Done()
		}(i)
	}
	wg.Wait()
	show(order)
}
