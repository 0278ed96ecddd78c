// SPDX-License-Identifier: BSD-3-Clause
//
// overflow_300 without align(): where the global queue comes in depends on what ran before main. At
// main.main the P has scheduled four times, and the finalizer goroutine, which package os starts when
// it makes its files, waits in runnext: it is pushed out first, takes one place of the ring, and runs
// when its turn comes. Goroutines 2 to 4 are the collector's and wait.
//
// On one CPU and as the only real-time process nothing else comes between: elsewhere sysmon sometimes
// takes the P from a system call of package os, and the finalizer goroutine has run before main.
//
// cpus: 1
// scenario: main: wg.add 300; go G(0..299); wg.wait. G(i): print i; wg.done.

package main

import "sync"

func main() {
	const n = 300
	var wg sync.WaitGroup
	wg.Add(n)
	for i := 0; i < n; i++ {
		i := i
		go func() { p(i); wg.Done() }()
	}
	wg.Wait()
	p("end")
	flush()
}
