// SPDX-License-Identifier: BSD-3-Clause

// fileio: Conc goroutines do blocking file system calls (open, pwrite, pread,
// fdatasync, unlink) with some CPU work in between; in addition every 4th
// operation waits in a blocking read on a pipe (a syscall that certainly lasts
// long enough for the runtime to retake the P).
package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"accuracy/bench"
)

func main() {
	bench.Main("fileio", bench.Config{Size: 960, Conc: 6, DurUS: 120}, func(c *bench.Config) *bench.Run {
		dir, err := os.MkdirTemp(c.Tmp, "fileio")
		bench.Check(err)
		lat := bench.NewRec("op", c.Size)
		return &bench.Run{Lat: []*bench.Rec{lat}, Done: func() { os.RemoveAll(dir) }, Do: func(ctx context.Context) int64 {
			var wg sync.WaitGroup
			for g := 0; g < c.Conc; g++ {
				wg.Add(1)
				go ioer(c, g, dir, lat, &wg)
			}
			wg.Wait()
			return int64(c.Size)
		}}
	})
}

func ioer(c *bench.Config, g int, dir string, lat *bench.Rec, wg *sync.WaitGroup) {
	defer wg.Done()
	buf := make([]byte, 64<<10)
	for i := range buf {
		buf[i] = byte(bench.Hash(c.Seed, i))
	}
	var fds [2]int
	bench.Check(syscall.Pipe(fds[:])) // blocking pipe, not known to the netpoller
	defer syscall.Close(fds[0])
	defer syscall.Close(fds[1])
	var crc uint32
	var sum uint64
	for i := g; i < c.Size; i += c.Conc {
		t := time.Now()
		name := filepath.Join(dir, fmt.Sprintf("f%d", g))
		fd, err := syscall.Open(name, syscall.O_RDWR|syscall.O_CREAT, 0o600)
		bench.Check(err)
		_, err = syscall.Pwrite(fd, buf, int64(i%8)*int64(len(buf)))
		bench.Check(err)
		if (i/c.Conc)%4 == 3 {
			// A sleeping system call: 300 us in nanosleep, then one byte
			// through the blocking pipe.
			ts := syscall.NsecToTimespec(300000)
			syscall.Nanosleep(&ts, nil)
			_, err = syscall.Write(fds[1], buf[:1])
			bench.Check(err)
			_, err = syscall.Read(fds[0], buf[:1])
			bench.Check(err)
		}
		_, err = syscall.Pread(fd, buf, int64(i%8)*int64(len(buf)))
		bench.Check(err)
		bench.Check(syscall.Close(fd))
		crc ^= crc32.ChecksumIEEE(buf)
		sum ^= bench.Work(bench.Vary(c.Seed, i, c.DurUS))
		lat.V[i] = int64(time.Since(t))
	}
	if sum == uint64(crc) {
		panic("unlikely")
	}
}
