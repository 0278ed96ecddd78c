// SPDX-License-Identifier: BSD-3-Clause
//
// The program behind the schedtrace samples. On 4 Ps: two goroutines that compute,
// 20 short ones in the run queue of one P, and of each way to wait one: channel,
// select, mutex, WaitGroup, sleep, system call, locked thread. It ends after 130 ms.

package main

import (
	"runtime"
	"sync"
	"syscall"
	"time"
)

func compute(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

func main() {
	var m sync.Mutex
	var wg sync.WaitGroup
	c, d := make(chan int), make(chan int)
	m.Lock()
	wg.Add(1)
	go func() { <-c }()
	go func() {
		select {
		case <-d:
		case d <- 1:
		}
	}()
	go func() { m.Lock() }()
	go func() { wg.Wait() }()
	go func() { time.Sleep(time.Second) }()
	go func() { runtime.LockOSThread(); wg.Wait() }()
	go func() {
		ts := syscall.NsecToTimespec(int64(time.Second))
		syscall.Nanosleep(&ts, nil)
	}()
	go compute(100 * time.Millisecond)
	for i := 0; i < 20; i++ {
		go compute(3 * time.Millisecond)
	}
	compute(100 * time.Millisecond)
	time.Sleep(30 * time.Millisecond)
}
