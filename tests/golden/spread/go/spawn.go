// SPDX-License-Identifier: BSD-3-Clause

// Eight goroutines of 2 us each; who comes when.
package main

import "sync"

func main() {
	var wg sync.WaitGroup
	order := make(chan int, 8)
	wg.Add(8)
	for i := 1; i <= 8; i++ {
		go func(id int) {
			spin(2)
			order <- id
			wg.Done()
		}(i)
	}
	wg.Wait()
	show(order)
}
