// SPDX-License-Identifier: BSD-3-Clause

// Eight goroutines; prints what the runtime noted meanwhile (see ../runtime.py): time from the start
// of main.main, M, what.
package main

import (
	"fmt"
	"sync"
	"time"
	_ "unsafe"
)

type NoteRec struct {
	T       int64
	What, M int32
}

//go:linkname notesget runtime.notesget
func notesget() (*[4096]NoteRec, uint32)

//go:linkname nanotime runtime.nanotime
func nanotime() int64

func main() {
	began := nanotime()
	var wg sync.WaitGroup
	order := make(chan int, 8)
	wg.Add(8)
	for i := 1; i <= 8; i++ {
		go func(id int) {
			for start := time.Now(); time.Since(start) < 50*time.Microsecond; {
			}
			order <- id
			wg.Done()
		}(i)
	}
	wg.Wait()
	notes, n := notesget()
	for _, r := range notes[:min(n, 4096)] {
		fmt.Println(r.T-began, r.M, r.What)
	}
}
