// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

func philosopher(left, right *sync.Mutex, wg *sync.WaitGroup) {
	defer wg.Done()
	left.Lock()
	right.Lock()
	right.Unlock()
	left.Unlock()
}

func main() {
	var forks [3]sync.Mutex
	var wg sync.WaitGroup
	wg.Add(3)
	for i := 0; i < 3; i++ {
		l, r := &forks[i], &forks[(i+1)%3]
		if i == 2 {
			l, r = r, l
		}
		go philosopher(l, r, &wg)
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
}
