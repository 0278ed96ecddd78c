// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

// Tokens come by a clock, for as long as somebody takes them.
func main() {
	tokens, stop := make(chan struct{}, 3), make(chan struct{})
	var filler, clients sync.WaitGroup
	filler.Add(1)
	go func() {
		defer filler.Done()
		t := time.NewTicker(300 * time.Microsecond)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				select {
				case tokens <- struct{}{}:
				default:
				}
			case <-stop:
				return
			}
		}
	}()
	for i := 0; i < 3; i++ {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for k := 0; k < 3; k++ {
				<-tokens
			}
		}()
	}
	clients.Wait()
	close(stop)
	filler.Wait()
}
