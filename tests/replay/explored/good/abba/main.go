// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"sync"
	"time"
)

type account struct {
	mu      sync.Mutex
	id      int
	balance int
}

func transfer(from, to *account, n int) {
	first, second := from, to
	if to.id < from.id {
		first, second = to, from
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()
	from.balance -= n
	to.balance += n
}

func main() {
	var wg sync.WaitGroup
	a, b := &account{id: 1, balance: 10}, &account{id: 2, balance: 10}
	wg.Add(2)
	go func() {
		defer wg.Done()
		transfer(a, b, 1)
	}()
	go func() {
		defer wg.Done()
		time.Sleep(2 * time.Millisecond)
		transfer(b, a, 2)
	}()
	wg.Wait()
}
