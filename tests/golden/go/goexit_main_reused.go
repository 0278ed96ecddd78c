// SPDX-License-Identifier: BSD-3-Clause
//
// After Goexit in main the next goroutine gets main's g: its end is not the program's.
//
// scenario: main: go parent; gosched; goexit. parent: gosched; go child: print child; gosched;
// print parent.
// exit: 2

package main

import "runtime"

func main() {
	go func() {
		runtime.Gosched()
		go p("child")
		runtime.Gosched()
		p("parent")
		flush()
	}()
	runtime.Gosched()
	runtime.Goexit()
}
