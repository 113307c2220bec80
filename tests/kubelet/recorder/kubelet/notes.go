package kubelet

import (
	"reflect"
	"slices"
	"sort"
	"unsafe"

	"k8s.io/apimachinery/pkg/types"
)

func (p *play) note(section string, l line) {
	if _, stamped := l["t_ms"]; !stamped {
		l["t_ms"] = p.now()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trace[section] = append(p.trace[section], l)
}

func (p *play) cut() trace {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole := p.trace
	p.trace = newTrace()
	return whole
}

// look notes the live workers if they changed. They are private to the prober, so look reads them with unsafe.
func (p *play) look(after string) {
	workers := []string{}
	for _, key := range privateMap(p.manager, "workers").MapKeys() {
		probeType := []string{"liveness", "readiness", "startup"}[key.Field(2).Int()]
		workers = append(workers, p.names[types.UID(key.Field(0).String())]+"/"+key.Field(1).String()+"/"+probeType)
	}
	sort.Strings(workers)
	if after == "end" || !reflect.DeepEqual(workers, p.lastWorkers) {
		p.note("workers", line{"after": after, "workers": workers})
	}
	p.lastWorkers = workers
}

// endResults looks up the results of every container ID of the inputs, spelled as there.
func (p *play) endResults(inputs []Input) []line {
	named := map[string]bool{"": true}
	var lines []line
	for _, input := range inputs {
		for _, container := range slices.Concat(input.Containers, input.Init) {
			if named[container.ID] {
				continue
			}
			named[container.ID] = true
			for _, cache := range p.caches {
				if result, ok := cache.Get(parseContainerID(container.ID)); ok {
					lines = append(lines,
						line{"type": cache.probeType, "container_id": container.ID, "result": result.String()})
				}
			}
		}
	}
	return lines
}

func privateMap(owner any, field string) reflect.Value {
	value := reflect.ValueOf(owner).Elem().FieldByName(field)
	return reflect.NewAt(value.Type(), unsafe.Pointer(value.UnsafeAddr())).Elem()
}
