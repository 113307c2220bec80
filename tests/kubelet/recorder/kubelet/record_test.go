package kubelet

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/prober"
)

// If the runs of a scenario do not all agree, it depends on a race in Go's scheduler, and the recorder leaves it out.
const runs = 24

// TestRecord plays each file of the folder IN and writes the whole recording to OUT. It is a test because Go has its
// virtual clock only in tests.
func TestRecord(t *testing.T) {
	// One processor, as for the recordings in tests/kubelet/traces: a status is stored before a worker wakes.
	goruntime.GOMAXPROCS(1)
	klog.SetLogger(logr.Discard())
	klog.SetOutput(io.Discard)
	legacyregistry.MustRegister(prober.ProberResults, prober.ProberDuration)
	files, err := filepath.Glob(filepath.Join(os.Getenv("IN"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios in %q: %v", os.Getenv("IN"), err)
	}
	for _, file := range files {
		if err := recordFile(t, file, filepath.Join(os.Getenv("OUT"), filepath.Base(file))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func recordFile(t *testing.T, from, to string) error {
	recording, err := load(from)
	if err != nil {
		return err
	}
	var agreed []byte
	for range runs {
		var played trace
		synctest.Test(t, func(*testing.T) { played, err = Play(recording) })
		if err != nil {
			return err
		}
		text, err := json.Marshal(played)
		if err != nil {
			return err
		}
		if agreed != nil && !bytes.Equal(agreed, text) {
			return nil
		}
		agreed = text
	}
	return write(from, to, agreed)
}

// write keeps the scenario and the inputs of the file and adds what the prober did.
func write(from, to string, played []byte) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var whole map[string]json.RawMessage
	var merged map[string]json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	if err := json.Unmarshal(whole["trace"], &merged); err != nil {
		return err
	}
	if err := json.Unmarshal(played, &merged); err != nil {
		return err
	}
	if whole["trace"], err = json.Marshal(merged); err != nil {
		return err
	}
	if text, err = json.Marshal(whole); err != nil {
		return err
	}
	return os.WriteFile(to, append(text, '\n'), 0o644)
}
