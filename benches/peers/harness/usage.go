package harness

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// usage of this process, all threads of it.
type usage struct {
	cpu     float64 // seconds, user and system
	wakeups int64   // voluntary context switches
}

func (u usage) minus(before usage) usage {
	return usage{u.cpu - before.cpu, u.wakeups - before.wakeups}
}

func usageNow() usage {
	var seen syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &seen); err != nil {
		Refuse(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return usage{seconds(seen.Utime) + seconds(seen.Stime), seen.Nvcsw}
}

// residentBytes is the RSS without what the garbage collector could give back.
func residentBytes() int64 {
	debug.FreeOSMemory()
	page, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		Refuse(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(page))[1], 10, 64)
	if err != nil {
		Refuse(err)
	}
	return pages * int64(os.Getpagesize())
}
