// SPDX-License-Identifier: BSD-3-Clause

// Twelve jobs of 5 us over an unbuffered channel to four workers; who did which.
package main

import "sync"

func main() {
	var wg sync.WaitGroup
	order := make(chan int, 12)
	jobs := make(chan int)
	wg.Add(4)
	for i := 1; i <= 4; i++ {
		go func(id int) {
			for range jobs {
				spin(5)
				order <- id
			}
			wg.Done()
		}(i)
	}
	for k := 0; k < 12; k++ {
		jobs <- k
	}
	close(jobs)
	wg.Wait()
	show(order)
}
