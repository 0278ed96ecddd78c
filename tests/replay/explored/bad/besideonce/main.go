// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

// The lock stands right behind a Once, which has one of its own.
type account struct {
	once    sync.Once
	mu      sync.Mutex
	balance int
}

func (a *account) open() {
	a.balance = 10
}

func transfer(from, to *account) {
	from.once.Do(from.open)
	to.once.Do(to.open)
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	from.balance--
	to.balance++
}

func main() {
	a, b := &account{}, &account{}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		transfer(a, b)
	}()
	go func() {
		defer wg.Done()
		time.Sleep(2 * time.Millisecond)
		transfer(b, a)
	}()
	wg.Wait()
}
