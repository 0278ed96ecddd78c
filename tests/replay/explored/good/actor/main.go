// SPDX-License-Identifier: BSD-3-Clause

package main

import "sync"

type req struct {
	n     int
	reply chan int
}

func main() {
	reqs := make(chan req)
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		total := 0
		for {
			select {
			case r := <-reqs:
				total += r.n
				r.reply <- total
			case <-quit:
				return
			}
		}
	}()
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for k := 0; k < 3; k++ {
				r := req{i, make(chan int, 1)}
				reqs <- r
				<-r.reply
			}
		}(i)
	}
	wg.Wait()
	close(quit)
	<-done
}
