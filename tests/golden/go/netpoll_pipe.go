// SPDX-License-Identifier: BSD-3-Clause
//
// A reader of an empty pipe parks in the network poller; the writer goes on until it
// blocks itself.
//
// scenario: pollable descriptor fd. main: go R; sleep 1ms; fd becomes ready; print
// wrote; recv done; print end. R: print reads; poll fd; print read; send done.

package main

import (
	"os"
	"time"
)

func main() {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	done := make(chan bool)
	go func() {
		var b [1]byte
		p("reads")
		r.Read(b[:])
		p("read")
		done <- true
	}()
	time.Sleep(2 * ms)
	w.Write([]byte{1})
	p("wrote")
	<-done
	p("end")
	flush()
}
