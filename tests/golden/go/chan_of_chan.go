// SPDX-License-Identifier: BSD-3-Clause
//
// Requests that carry their reply channel: a server answers in arrival order.
//
// scenario: server: range req: print serve i; send reply(i) i*10. client(i): send
// req; recv reply; print client i got v; wg.done. main: go server; go client(1..4);
// wg.wait.

package main

import "sync"

type request struct {
	id    int
	reply chan int
}

func main() {
	req := make(chan request)
	var wg sync.WaitGroup
	go func() {
		for r := range req {
			p("serve", r.id)
			r.reply <- r.id * 10
		}
	}()
	wg.Add(4)
	for i := 1; i <= 4; i++ {
		i := i
		go func() {
			r := request{i, make(chan int)}
			req <- r
			p("client", i, "got", <-r.reply)
			wg.Done()
		}()
	}
	wg.Wait()
	p("end")
	flush()
}
