// SPDX-License-Identifier: BSD-3-Clause
//
// Bounded buffer of 2 from Mutex and two Conds: two producers and one consumer.
//
// scenario: producer(i): loop 3 {lock; while n==2 notfull.wait; n+=1; print put i;
// notempty.signal; unlock}. consumer: loop 6 {lock; while n==0 notempty.wait; n-=1;
// print take; notfull.signal; unlock}.

package main

import "sync"

func main() {
	var m sync.Mutex
	notFull, notEmpty := sync.NewCond(&m), sync.NewCond(&m)
	var wg sync.WaitGroup
	n := 0
	wg.Add(3)
	for i := 1; i <= 2; i++ {
		i := i
		go func() {
			for k := 0; k < 3; k++ {
				m.Lock()
				for n == 2 {
					notFull.Wait()
				}
				n++
				p("put", i)
				notEmpty.Signal()
				m.Unlock()
			}
			wg.Done()
		}()
	}
	go func() {
		for k := 0; k < 6; k++ {
			m.Lock()
			for n == 0 {
				notEmpty.Wait()
			}
			n--
			p("take")
			notFull.Signal()
			m.Unlock()
		}
		wg.Done()
	}()
	wg.Wait()
	p("end")
	flush()
}
