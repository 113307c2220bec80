// Package harness is what the peers written in Go have in common: the command line, the course of a measurement and the
// one JSON object that they print.
package harness

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options are those of every engine of the suite: ENGINE HANDLER [OPTIONS].
type Options struct {
	Handler  string
	Target   Place
	Faulty   Faulty
	Workers  int
	Period   time.Duration
	Warm     time.Duration
	Duration time.Duration
	Burst    bool
	Churn    int
	Restarts int
	// Of the handler "mix": the handler of each worker, the period of its liveness probe, where gRPC listens, and the
	// containers of its commands.
	Mix        []string
	Liveness   time.Duration
	GRPC       Place
	Runtime    string
	Containers []string
}

// Parse reads the command line and ends the program if it cannot be used.
func Parse() Options {
	var o Options
	if len(os.Args) < 2 {
		Refuse(fmt.Errorf("want HANDLER [OPTIONS]; HANDLER --help lists them"))
	}
	o.Handler = os.Args[1]
	flags := flag.NewFlagSet(o.Handler, flag.ExitOnError)
	target := flags.String("target", "127.0.0.1:1", "ADDRESS/BITS:PORT; worker n probes the n-th address")
	faulty := flags.String("faulty", "127.0.0.1:1=0", "ADDRESS/BITS:PORT=PERCENT of the workers probe this instead")
	flags.IntVar(&o.Workers, "workers", 1000, "how many probe")
	flags.DurationVar(&o.Period, "period", time.Second, "periodSeconds, whole seconds")
	flags.DurationVar(&o.Warm, "warm", 2*time.Second, "before anything is measured")
	flags.DurationVar(&o.Duration, "duration", 10*time.Second, "how long to measure")
	flags.BoolVar(&o.Burst, "burst", false, "all workers in phase, instead of spread over the period")
	flags.IntVar(&o.Churn, "churn", 0, "pods added and removed each second, besides the workers")
	flags.IntVar(&o.Restarts, "restarts", 0, "containers restarted each second")
	mix := flags.String("mix", "", "HANDLER=COUNT,... of the handler mix: how many workers have which handler")
	flags.DurationVar(&o.Liveness, "liveness", 0, "periodSeconds of the liveness probes of a mix; 0: --period")
	grpc := flags.String("grpc", "127.0.0.1:1", "as --target, for the gRPC probes of a mix")
	flags.StringVar(&o.Runtime, "runtime", "", "the CRI endpoint that runs commands; empty: each succeeds at once")
	containers := flags.String("containers", "", "ID,... of the containers there, one for each exec probe of a mix")
	_ = flags.Parse(os.Args[2:]) // it has ended the program if it could not
	o.Containers = strings.FieldsFunc(*containers, func(r rune) bool { return r == ',' })
	var err error
	if o.Mix, err = parseMix(*mix); err != nil {
		Refuse(err)
	}
	if o.Handler == "mix" {
		o.Workers = len(o.Mix)
	}
	if o.Liveness == 0 {
		o.Liveness = o.Period
	}
	if o.GRPC, err = parsePlace(*grpc); err != nil {
		Refuse(err)
	}
	if o.Target, err = parsePlace(*target); err != nil {
		Refuse(err)
	}
	if o.Faulty, err = parseFaulty(*faulty); err != nil {
		Refuse(err)
	}
	return o
}

// parseMix reads "http=2,exec=1" as the handlers of three workers.
func parseMix(text string) ([]string, error) {
	var mix []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		handler, count, found := strings.Cut(part, "=")
		number, err := strconv.Atoi(count)
		if !found || err != nil || number < 0 {
			return nil, fmt.Errorf("cannot use %q; want HANDLER=COUNT,...", text)
		}
		mix = append(mix, slices.Repeat([]string{handler}, number)...)
	}
	return mix, nil
}

// HandlerOf is the handler of a worker.
func (o Options) HandlerOf(worker int) string {
	if o.Handler == "mix" {
		return o.Mix[worker]
	}
	return o.Handler
}

// Where a worker probes.
func (o Options) Where(worker int) Place {
	if o.HandlerOf(worker) == "grpc" && o.Handler == "mix" {
		return o.GRPC
	}
	if o.Faulty.Has(worker) {
		return o.Faulty.Place
	}
	return o.Target
}

// Refuse ends the program with one line.
func Refuse(err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
	os.Exit(2)
}
