// SPDX-License-Identifier: BSD-3-Clause

// Three goroutines start two more each.
package main

import "sync"

func main() {
	var wg sync.WaitGroup
	order := make(chan int, 9)
	wg.Add(9)
	for i := 1; i <= 3; i++ {
		go func(id int) {
			for k := 1; k <= 2; k++ {
				go func(child int) {
					spin(5)
					order <- child
					wg.Done()
				}(10*id + k)
			}
			spin(5)
			order <- id
			wg.Done()
		}(i)
	}
	wg.Wait()
	show(order)
}
