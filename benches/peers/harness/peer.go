package harness

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"
)

// A Peer is a prober under measurement. Its pods are loaded, and it has no workers yet.
type Peer interface {
	Add()
	Remove()
	// Endure waits for the end of the measured time, and meanwhile does what the scenario does to pods.
	Endure(end time.Time)
	Counts() Counts
	// Lateness in milliseconds (p50, p99, max), where the prober knows it better than the target; otherwise nil.
	Lateness() map[string]float64
}

// Counts are what a prober has done so far.
type Counts struct{ Probes, FalseFailures int64 }

// Run lets a peer add its workers and settle, measures, and prints one JSON object of schema probelet-bench/1.
func Run(name string, o Options, peer Peer) {
	if o.Burst {
		// While a kubelet is younger than a period, first probes are spread over one (worker.go:run, 1.36).
		time.Sleep(o.Period + 200*time.Millisecond)
	}
	loaded := residentBytes()
	began := time.Now()
	peer.Add()
	added := time.Since(began)
	time.Sleep(o.Warm)

	fmt.Fprintln(os.Stderr, "measuring")
	before, used := peer.Counts(), usageNow()
	began = time.Now()
	peer.Endure(began.Add(o.Duration))
	elapsed := time.Since(began).Seconds()
	used = usageNow().minus(used)
	after := peer.Counts()
	fmt.Fprintln(os.Stderr, "measured")
	grown := residentBytes() - loaded

	began = time.Now()
	peer.Remove()
	removed := time.Since(began)
	probes := after.Probes - before.Probes
	report := map[string]any{
		"schema":             "probelet-bench/1",
		"engine":             name,
		"scenario":           o.Handler,
		"workers":            o.Workers,
		"period_seconds":     o.Period.Seconds(),
		"seconds":            Round(elapsed, 3),
		"probes":             probes,
		"probes_per_second":  Round(float64(probes)/elapsed, 1),
		"cpu_us_per_probe":   nil,
		"false_failures":     after.FalseFailures - before.FalseFailures,
		"lateness_ms":        peer.Lateness(),
		"bytes_per_worker":   grown / int64(max(1, o.Workers)),
		"add_ms":             milliseconds(added),
		"remove_ms":          milliseconds(removed),
		"wakeups_per_second": Round(float64(used.wakeups)/elapsed, 1),
	}
	if probes > 0 {
		report["cpu_us_per_probe"] = Round(used.cpu*1e6/float64(probes), 2)
	}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		Refuse(err)
	}
}

// Round to so many digits after the point.
func Round(value float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(value*scale) / scale
}

func milliseconds(length time.Duration) float64 { return Round(length.Seconds()*1e3, 1) }
