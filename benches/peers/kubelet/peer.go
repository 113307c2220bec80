package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	// Without the API types in its scheme the prober silently drops every event.
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	kubepod "k8s.io/kubernetes/pkg/kubelet/pod"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
	statustest "k8s.io/kubernetes/pkg/kubelet/status/testing"
	kubeletutil "k8s.io/kubernetes/pkg/kubelet/util"
	"probelet.dev/benches/harness"
)

const faultyPrefix = "faulty-"

// A peer is a kubelet's prober with what stands around it in a kubelet: pods, status manager, results managers.
type peer struct {
	options  harness.Options
	ctx      context.Context
	pods     []*v1.Pod
	loaded   []v1.PodStatus // What the runtime said of each pod before it got its worker.
	known    kubepod.Manager
	statuses status.Manager
	manager  prober.Manager
	runner   *runner
	results  *countedResults
	events   *countedEvents
	execs    int // How many real containers have their pod.
}

// newPeer loads all pods; no worker exists yet.
func newPeer(ctx context.Context, o harness.Options) *peer {
	legacyregistry.MustRegister(prober.ProberResults, prober.ProberDuration)
	p := &peer{
		options: o,
		ctx:     ctx,
		known:   kubepod.NewBasicPodManager(),
		runner:  newRunner(ctx, o),
		results: &countedResults{Manager: results.NewManager(), successes: new(atomic.Int64)},
		events:  &countedEvents{FakeRecorder: &record.FakeRecorder{}},
	}
	latency := kubeletutil.NewPodStartupLatencyTracker()
	p.statuses = status.NewManager(nil, p.known, &statustest.FakePodDeletionSafetyProvider{}, latency)
	for worker := range o.Workers {
		p.pods = append(p.pods, p.load(worker))
		p.loaded = append(p.loaded, p.runs(worker))
	}
	liveness := &countedResults{Manager: results.NewManager(), successes: p.results.successes}
	startup := results.NewManager()
	go p.react(liveness, startup)
	p.manager = prober.NewManager(p.statuses, liveness, p.results, startup, p.runner, p.events)
	return p
}

func (p *peer) load(worker int) *v1.Pod {
	name := fmt.Sprintf("pod-%d", worker)
	if p.options.Faulty.Has(worker) {
		name = faultyPrefix + name
	}
	pod := newPod(p.options, name, p.options.HandlerOf(worker), p.options.Where(worker).Port)
	p.known.AddPod(pod)
	return pod
}

// runs is the status of a worker's pod. The exec probes of a mix have real containers, if there is a runtime.
func (p *peer) runs(worker int) v1.PodStatus {
	status := running(p.address(worker), worker, 0)
	if p.options.Runtime != "" && p.options.HandlerOf(worker) == "exec" {
		status.ContainerStatuses[0].ContainerID = "containerd://" + p.options.Containers[p.execs]
		p.execs++
	}
	return status
}

func (p *peer) address(worker int) string { return p.options.Where(worker).Address(worker) }

// Add gives every pod its status and its worker, with the calls of the first SyncPod (kubelet.go, 1.36).
func (p *peer) Add() {
	p.runner.recording.Store(true)
	logger := klog.FromContext(p.ctx)
	for worker, pod := range p.pods {
		status := p.loaded[worker]
		p.manager.UpdatePodStatus(p.ctx, pod, &status)
		p.statuses.SetPodStatus(logger, pod, status)
		p.manager.AddPod(p.ctx, pod)
	}
	p.loaded = nil
}

// Remove stops all workers.
func (p *peer) Remove() {
	for _, pod := range p.pods {
		p.manager.RemovePod(pod)
	}
}

// Lateness of exec runs; a socket's target knows it.
func (p *peer) Lateness() map[string]float64 { return p.runner.lateness(p.options.Period) }

// react does with results what the kubelet's sync loop does (kubelet.go:syncLoopIteration).
func (p *peer) react(liveness, startup results.Manager) {
	logger := klog.FromContext(p.ctx)
	for {
		select {
		case update := <-p.results.Updates():
			p.statuses.SetContainerReadiness(logger, update.PodUID, update.ContainerID, update.Result == results.Success)
		case <-liveness.Updates():
		case <-startup.Updates():
		}
	}
}

// Endure does what the scenario does to pods ten times a second.
func (p *peer) Endure(end time.Time) {
	const turns = 10
	o := p.options
	if o.Churn == 0 && o.Restarts == 0 {
		time.Sleep(time.Until(end))
		return
	}
	var extra []*v1.Pod
	serial, next, restarts := 0, 0, 0
	for turn := 1; time.Now().Before(end); turn++ {
		for _, pod := range extra {
			p.manager.RemovePod(pod)
			p.known.RemovePod(pod)
		}
		extra = extra[:0]
		for range o.Churn / turns {
			serial++
			// The port is that of the target, the address the one whose lateness nobody looks at.
			pod := newPod(o, fmt.Sprintf("extra-%d", serial), o.Handler, o.Target.Port)
			p.known.AddPod(pod)
			p.statuses.SetPodStatus(klog.FromContext(p.ctx), pod, running("127.0.0.1", o.Workers, serial))
			p.manager.AddPod(p.ctx, pod)
			extra = append(extra, pod)
		}
		for range o.Restarts / turns {
			restarts++
			status := running(p.address(next), next, restarts)
			p.statuses.SetPodStatus(klog.FromContext(p.ctx), p.pods[next], status)
			next = (next + 1) % o.Workers
		}
		time.Sleep(time.Until(end.Add(-o.Duration + time.Duration(turn)*time.Second/turns)))
	}
}

// Counts: every success is set in the results manager, every failure is an event.
func (p *peer) Counts() harness.Counts {
	deserved, undeserved := p.events.deserved.Load(), p.events.undeserved.Load()
	return harness.Counts{Probes: p.results.successes.Load() + deserved + undeserved, FalseFailures: undeserved}
}

type countedResults struct {
	results.Manager
	successes *atomic.Int64
}

func (r *countedResults) Set(id kubecontainer.ContainerID, result results.Result, pod *v1.Pod) {
	if result == results.Success {
		r.successes.Add(1)
	}
	r.Manager.Set(id, result, pod)
}

type countedEvents struct {
	*record.FakeRecorder
	deserved, undeserved atomic.Int64
}

func (e *countedEvents) WithLogger(klog.Logger) record.EventRecorderLogger { return e }

func (e *countedEvents) Eventf(object kruntime.Object, _, _, _ string, _ ...any) {
	if ref, ok := object.(*v1.ObjectReference); ok && strings.HasPrefix(ref.Name, faultyPrefix) {
		e.deserved.Add(1)
		return
	}
	e.undeserved.Add(1)
}
