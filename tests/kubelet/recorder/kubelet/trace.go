package kubelet

import (
	"encoding/json"
	"sort"
	"strings"

	"k8s.io/component-base/metrics/legacyregistry"
)

type line = map[string]any

type trace map[string][]line

// The section "inputs" is written only for a scenario with events; it keeps the order of the calls.
var sections = []string{"effective_probes", "inputs", "probes", "results", "updates", "events", "statuses", "workers",
	"end_results", "end_metrics"}

func newTrace() trace {
	t := trace{}
	for _, section := range sections {
		t[section] = []line{}
	}
	return t
}

// canonical sorts the lines of one instant by their text, but keeps the order of those of one result cache entry.
func (t trace) canonical() {
	for section, lines := range t {
		key := func(l line) string {
			text, _ := json.Marshal(l)
			return string(text)
		}
		switch section {
		case "inputs", "workers", "statuses", "effective_probes":
			continue
		case "results":
			key = func(l line) string { return l["type"].(string) + l["container_id"].(string) }
		}
		sort.SliceStable(lines, func(i, j int) bool {
			a, _ := lines[i]["t_ms"].(int64)
			b, _ := lines[j]["t_ms"].(int64)
			if a != b {
				return a < b
			}
			return key(lines[i]) < key(lines[j])
		})
	}
}

// endMetrics reads the prober's two metric families as a scrape would.
func endMetrics() ([]line, error) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	var lines []line
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "prober_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := line{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			name, value := family.GetName(), metric.GetCounter().GetValue()
			if histogram := metric.GetHistogram(); histogram != nil {
				name, value = name+"_count", float64(histogram.GetSampleCount())
			}
			lines = append(lines, line{"name": name, "labels": labels, "value": value})
		}
	}
	return lines, err
}
