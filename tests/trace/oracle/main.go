// SPDX-License-Identifier: BSD-3-Clause

// Go's own reader of traces as a program, built by oracle/build.py from the internal/trace of a
// Go that is installed.
//
//	oracle dump FILE     every event as that reader prints it, then its error, if any
//	oracle verdict FILE  "ok" or the error
//	oracle bench FILE N  best of N: bytes per second of reading, by the clock and of CPU time
//	oracle unpack FILE   a *.test file of internal/trace: the trace as bytes
//	oracle expect FILE   what that file says about it: SUCCESS or FAILURE
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"oracle/trace"
	"oracle/trace/testtrace"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(data []byte, each func(trace.Event)) error {
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		each(ev)
	}
}

// cpu is what the process has used, its collector included.
func cpu() float64 {
	var r syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

func bench(data []byte, n int) {
	wall, used := 0.0, 0.0
	for i := 0; i < n; i++ {
		start, before := time.Now(), cpu()
		check(read(data, func(trace.Event) {}))
		wall = max(wall, float64(len(data))/time.Since(start).Seconds())
		used = max(used, float64(len(data))/(cpu()-before))
	}
	fmt.Printf("%.0f %.0f\n", wall, used)
}

func main() {
	data, err := os.ReadFile(os.Args[2])
	check(err)
	switch os.Args[1] {
	case "dump":
		out := bufio.NewWriter(os.Stdout)
		defer out.Flush()
		if err := read(data, func(ev trace.Event) { fmt.Fprintln(out, ev.String()) }); err != nil {
			fmt.Fprintln(out, "error")
		}
	case "verdict":
		if err := read(data, func(trace.Event) {}); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("ok")
		}
	case "bench":
		n, err := strconv.Atoi(os.Args[3])
		check(err)
		bench(data, n)
	case "unpack":
		r, _, _, err := testtrace.ParseFile(os.Args[2])
		check(err)
		_, err = io.Copy(os.Stdout, r)
		check(err)
	case "expect":
		_, _, exp, err := testtrace.ParseFile(os.Args[2])
		check(err)
		if exp.Check(nil) == nil {
			fmt.Println("SUCCESS")
		} else {
			fmt.Println("FAILURE")
		}
	}
}
