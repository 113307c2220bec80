package main

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"probelet.dev/benches/harness"
)

// newPod has one container with one readiness probe, and in a mix a liveness probe like it. Its name says whether its
// failures are deserved.
func newPod(o harness.Options, name, handled string, port int32) *v1.Pod {
	probe := &v1.Probe{
		ProbeHandler:     handler(handled, port),
		TimeoutSeconds:   1,
		PeriodSeconds:    int32(o.Period / time.Second),
		SuccessThreshold: 1,
		FailureThreshold: 3,
	}
	container := v1.Container{Name: "app", Image: "app", ReadinessProbe: probe}
	if o.Handler == "mix" {
		liveness := *probe
		liveness.PeriodSeconds = int32(o.Liveness / time.Second)
		container.LivenessProbe = &liveness
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "bench", UID: types.UID("uid-of-" + name)},
		Spec:       v1.PodSpec{Containers: []v1.Container{container}},
	}
}

func handler(name string, port int32) v1.ProbeHandler {
	switch name {
	case "http", "https":
		scheme := v1.URISchemeHTTP
		if name == "https" {
			scheme = v1.URISchemeHTTPS
		}
		return v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(port), Scheme: scheme}}
	case "tcp":
		return v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: intstr.FromInt32(port)}}
	case "grpc":
		service := ""
		return v1.ProbeHandler{GRPC: &v1.GRPCAction{Port: port, Service: &service}}
	case "exec":
		return v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}}
	}
	harness.Refuse(fmt.Errorf("there is no handler %q; want http, https, tcp, grpc or exec", name))
	return v1.ProbeHandler{}
}

// running is the status of a pod whose container runs. The container ID ends with the worker's number, which tells the
// exec runner whose turn it is.
func running(address string, worker, restarts int) v1.PodStatus {
	started := true
	container := v1.ContainerStatus{
		Name:         "app",
		ContainerID:  fmt.Sprintf("containerd://%d-%d", restarts, worker),
		RestartCount: int32(restarts),
		Started:      &started,
		State: v1.ContainerState{Running: &v1.ContainerStateRunning{
			StartedAt: metav1.NewTime(time.Now().Add(-time.Minute)),
		}},
	}
	return v1.PodStatus{Phase: v1.PodRunning, PodIP: address, ContainerStatuses: []v1.ContainerStatus{container}}
}
