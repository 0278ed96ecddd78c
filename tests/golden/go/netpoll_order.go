// SPDX-License-Identifier: BSD-3-Clause
//
// Four readers whose pipes are written while nobody polls: one poll finds them all.
//
// scenario: 4 pollable descriptors. main: go R(1..4); sleep 2ms; 1..4 become ready in
// this order; print wrote; wg.wait; print end. R(i): poll fd i; print r i; wg.done.

package main

import (
	"os"
	"sync"
	"time"
)

func main() {
	var wg sync.WaitGroup
	var w [4]*os.File
	wg.Add(4)
	for i := range w {
		r, wr, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		w[i] = wr
		i := i
		go func() {
			var b [1]byte
			r.Read(b[:])
			p("r", i+1)
			wg.Done()
		}()
	}
	time.Sleep(2 * ms)
	for i := range w {
		w[i].Write([]byte{1})
	}
	p("wrote")
	wg.Wait()
	p("end")
	flush()
}
