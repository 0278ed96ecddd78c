// SPDX-License-Identifier: BSD-3-Clause
//
// A worker that selects over work and quit until quit is closed; work is unbuffered,
// so all of it is done before.
//
// scenario: worker: loop select {recv work: print work v; recv quit: print quit; send
// done; return}. main: go worker; send work 1..3; close quit; recv done; print end.

package main

func main() {
	work, quit, done := make(chan int), make(chan bool), make(chan bool)
	go func() {
		for {
			select {
			case v := <-work:
				p("work", v)
			case <-quit:
				p("quit")
				done <- true
				return
			}
		}
	}()
	for v := 1; v <= 3; v++ {
		work <- v
	}
	close(quit)
	<-done
	p("end")
	flush()
}
