package kubelet

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/prober"
)

// A scenario with more than tracesMax traces is left out: RUNS runs might not find all that are possible.
const tracesMax = 24

// TestRecord plays each file of the folder IN RUNS times and writes the whole recording to OUT. It is a test because Go
// has its virtual clock only in tests.
func TestRecord(t *testing.T) {
	// One processor, as for the recordings in tests/kubelet/traces: a status is stored before a worker wakes.
	goruntime.GOMAXPROCS(1)
	klog.SetLogger(logr.Discard())
	klog.SetOutput(io.Discard)
	legacyregistry.MustRegister(prober.ProberResults, prober.ProberDuration)
	runs, err := strconv.Atoi(os.Getenv("RUNS"))
	if err != nil {
		t.Fatalf("RUNS: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("IN"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios in %q: %v", os.Getenv("IN"), err)
	}
	for _, file := range files {
		if err := recordFile(t, runs, file, filepath.Join(os.Getenv("OUT"), filepath.Base(file))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func recordFile(t *testing.T, runs int, from, to string) error {
	recording, err := load(from)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for range runs {
		var trace trace
		synctest.Test(t, func(*testing.T) { trace, err = Play(recording) })
		if err != nil {
			return err
		}
		text, err := json.Marshal(trace)
		if err != nil {
			return err
		}
		if counts[string(text)]++; len(counts) > tracesMax {
			return nil
		}
	}
	return write(from, to, counts)
}

// write keeps the scenario and the inputs of the file and adds what the prober did: the most frequent trace, and the
// others as variants.
func write(from, to string, counts map[string]int) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	inputs, _ := whole["trace"].(map[string]any)
	traces := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	variants := []any{}
	for number, played := range traces {
		merged := map[string]any{}
		maps.Copy(merged, inputs)
		var trace map[string]json.RawMessage
		if err := json.Unmarshal([]byte(played), &trace); err != nil {
			return err
		}
		for section, lines := range trace {
			merged[section] = lines
		}
		if number == 0 {
			whole["trace"] = merged
		} else {
			variants = append(variants, map[string]any{"count": counts[played], "trace": merged})
		}
	}
	if len(variants) > 0 {
		whole["variants"] = variants
	}
	if text, err = json.Marshal(whole); err != nil {
		return err
	}
	return os.WriteFile(to, append(text, '\n'), 0o644)
}
