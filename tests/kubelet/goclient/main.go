// Command goclient hands the probes of many pods over to `probelet serve`, as a kubelet would, and prints a summary as
// one JSON object.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"

	"probelet.dev/goclient/handover"
	"probelet.dev/goclient/proberv1"
)

// patience is the limit of the whole run, long enough for a busy machine.
const patience = 210 * time.Second

const (
	liveness  = proberv1.ProbeType_LIVENESS
	readiness = proberv1.ProbeType_READINESS
)

type node struct {
	manager *handover.Manager
	caches  *handover.Caches
	// The kubelet's own result caches.
	liveness, readiness, startup results.Manager

	pods    []*v1.Pod
	execs   atomic.Int64
	updates atomic.Int64
	events  atomic.Int64
}

func main() {
	socket := flag.String("socket", "", "the socket of probelet serve")
	count := flag.Int("pods", 1000, "how many pods")
	flag.Parse()
	manager, err := handover.Dial(*socket, fatal)
	if err != nil {
		fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n := &node{manager: manager}
	n.liveness, n.readiness, n.startup = results.NewManager(), results.NewManager(), results.NewManager()
	n.caches = handover.NewCaches(n.liveness, n.readiness, n.startup)
	n.follow(ctx)
	port := serveTargets()
	for i := range *count {
		n.pods = append(n.pods, makePod(i, port))
	}
	n.run(ctx)
}

func (n *node) run(ctx context.Context) {
	for i, pod := range n.pods {
		n.sync(ctx, i, pod)
	}
	half := len(n.pods) / 2
	wait(ctx, "every verdict", func() bool {
		return n.count(n.readiness, results.Success) == half && n.count(n.liveness, results.Failure) == half
	})
	ready := 0
	for i, pod := range n.pods {
		if n.sync(ctx, i, pod).ContainerStatuses[0].Ready {
			ready++
		}
	}
	cached := n.caches.Len(readiness) + n.caches.Len(liveness)
	n.manager.StopLivenessAndStartup(n.pods[0])
	n.manager.RemovePod(n.pods[1])
	wait(ctx, "the first workers' ends", func() bool {
		return n.caches.Len(liveness) == len(n.pods)-2 && n.caches.Len(readiness) == len(n.pods)-1
	})
	n.manager.CleanupPods(map[types.UID]sets.Empty{n.pods[0].UID: {}})
	wait(ctx, "the end of all others", func() bool { return n.caches.Len(liveness)+n.caches.Len(readiness) == 1 })
	n.manager.RemovePod(n.pods[0])
	n.manager.RemovePodStatus(ctx, n.pods[0].UID)
	wait(ctx, "the last one's end", func() bool { return n.caches.Len(readiness) == 0 })
	summary := map[string]any{
		"pods": len(n.pods), "ready": ready, "cached": cached,
		"execs": n.execs.Load() > 0, "updates": n.updates.Load() > 0, "events": n.events.Load() > 0,
	}
	_ = json.NewEncoder(os.Stdout).Encode(summary)
}

// follow mirrors results, records events and carries out exec probes in the background.
func (n *node) follow(ctx context.Context) {
	for _, cache := range []results.Manager{n.startup, n.readiness, n.liveness} {
		go func() {
			for range cache.Updates() {
				n.updates.Add(1)
			}
		}()
	}
	run := func(attempt *proberv1.ExecAttempt) *proberv1.ExecAnswer {
		n.execs.Add(1)
		code := int32(len(attempt.Argv)) - 1
		return &proberv1.ExecAnswer{Outcome: &proberv1.ExecAnswer_Exit{Exit: &proberv1.Exit{Code: code}}}
	}
	recorder := record.NewFakeRecorder(0)
	go func() {
		for range recorder.Events {
			n.events.Add(1)
		}
	}()
	go n.manager.Keep(ctx, n.caches, run, recorder)
}

// sync is what a kubelet does with a pod that runs: fill the status, keep it, add the pod.
func (n *node) sync(ctx context.Context, i int, pod *v1.Pod) *v1.PodStatus {
	status := makeStatus(i)
	n.manager.UpdatePodStatus(ctx, pod, status)
	n.manager.SetPodStatus(ctx, pod.UID, status)
	n.manager.AddPod(ctx, pod)
	return status
}

func (n *node) count(cache results.Manager, wanted results.Result) int {
	found := 0
	for i := range n.pods {
		if result, ok := cache.Get(containerID(i)); ok && result == wanted {
			found++
		}
	}
	return found
}

// makePod returns a pod of one container. Probes of even pods pass, probes of odd pods fail; two in ten pods have exec
// probes.
func makePod(i, port int) *v1.Pod {
	good := i%2 == 0
	probe := func() *v1.Probe {
		probe := &v1.Probe{TimeoutSeconds: 30, PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
		path, argv := "/bad", []string{"probe", "bad"}
		if good {
			path, argv = "/good", []string{"probe"}
		}
		if i%10 < 2 {
			probe.Exec = &v1.ExecAction{Command: argv}
		} else {
			probe.HTTPGet = &v1.HTTPGetAction{Path: path, Port: intstr.FromInt(port), Scheme: v1.URISchemeHTTP}
		}
		return probe
	}
	container := v1.Container{Name: "app", LivenessProbe: probe(), ReadinessProbe: probe()}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pod-%d", i), Namespace: "default", UID: types.UID(fmt.Sprintf("uid-%d", i)),
		},
		Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyAlways, Containers: []v1.Container{container}},
	}
}

func makeStatus(i int) *v1.PodStatus {
	id := containerID(i)
	running := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now())}}
	container := v1.ContainerStatus{Name: "app", ContainerID: id.String(), State: running}
	return &v1.PodStatus{
		Phase: v1.PodRunning, PodIP: "127.0.0.1", PodIPs: []v1.PodIP{{IP: "127.0.0.1"}},
		ContainerStatuses: []v1.ContainerStatus{container},
	}
}

func containerID(i int) kubecontainer.ContainerID {
	return kubecontainer.ContainerID{Type: "containerd", ID: fmt.Sprintf("c%d", i)}
}

// serveTargets answers 200 to /good and 404 to any other path; it returns its port.
func serveTargets() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(http.ResponseWriter, *http.Request) {})
	go func() { fatal(http.Serve(listener, mux)) }()
	return listener.Addr().(*net.TCPAddr).Port
}

func wait(ctx context.Context, what string, done func() bool) {
	for !done() {
		select {
		case <-ctx.Done():
			fatal(fmt.Errorf("waited in vain for %s", what))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
