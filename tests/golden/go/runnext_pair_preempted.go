// SPDX-License-Identifier: BSD-3-Clause
//
// A pair that hands a token through runnext shares one time slice; when it is used
// up, the third goroutine gets its turn.
//
// scenario: main: go T; go A; recv done. A and B bounce a token for 60ms over two
// unbuffered channels; A: print a begins .. a ends. T: print third.

package main

import "time"

func main() {
	wakeSysmon()
	ab, ba, done := make(chan int), make(chan int), make(chan bool)
	go func() { p("third") }()
	go func() {
		for n := range ab {
			ba <- n
		}
	}()
	go func() {
		p("a begins")
		for end := time.Now().Add(60 * ms); time.Now().Before(end); {
			ab <- 1
			<-ba
		}
		p("a ends")
		done <- true
	}()
	<-done
	p("end")
	flush()
}
