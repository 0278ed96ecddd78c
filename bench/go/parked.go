// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// How a goroutine waits; each returns when the others let it go.
var parkings = []struct {
	name    string
	prepare func() (wait, release func())
}{
	{"receive", func() (func(), func()) {
		c := make(chan int)
		return func() { <-c }, func() { close(c) }
	}},
	{"select of 2", func() (func(), func()) {
		c, d := make(chan int), make(chan int)
		return func() {
			select {
			case <-c:
			case <-d:
			}
		}, func() { close(c) }
	}},
	{"mutex", func() (func(), func()) {
		var m sync.Mutex
		m.Lock()
		return func() { m.Lock(); m.Unlock() }, m.Unlock
	}},
	{"WaitGroup", func() (func(), func()) {
		var w sync.WaitGroup
		w.Add(1)
		return w.Wait, w.Done
	}},
	{"sleep", func() (func(), func()) {
		return func() { time.Sleep(5 * time.Second) }, func() {}
	}},
}

// parked prints what one of n parked goroutines costs in resident memory, for every kind
// in a process of its own, or for the kinds named.
func parked(n int, names []string) {
	for _, p := range parkings {
		if len(names) == 0 {
			cmd := exec.Command(os.Args[0], "-parked", strconv.Itoa(n), p.name)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				fmt.Fprintln(os.Stderr, "bench:", err)
				os.Exit(1)
			}
		} else if names[0] == p.name {
			wait, release := p.prepare()
			before := resident()
			var all sync.WaitGroup
			all.Add(n)
			for i := 0; i < n; i++ {
				go func() { wait(); all.Done() }()
			}
			time.Sleep(time.Second)
			fmt.Printf("parked %s: %.0f\n", p.name, float64(resident()-before)/float64(n))
			release()
			all.Wait()
		}
	}
}

// resident is the memory of the process in bytes.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	var size, pages int64
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: /proc/self/statm:", err)
		os.Exit(1)
	}
	return pages * int64(os.Getpagesize())
}
