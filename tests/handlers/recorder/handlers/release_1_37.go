//go:build kubelet_1_37

package main

import (
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
)

// probeHTTP is that part of runProbe with the gate H2CContainerProbe on.
func probeHTTP(action *v1.HTTPGetAction, request *http.Request, timeout time.Duration) (probe.Result, string, error) {
	if action.Protocol != nil && *action.Protocol == v1.HTTPProtocolHTTP2 {
		return overHTTP.ProbeH2C(request, timeout)
	}
	return overHTTP.Probe(request, timeout)
}

// probeGRPC is that part of runProbe with the gate GRPCContainerProbeTLS on.
func probeGRPC(action *v1.GRPCAction, host, service string, timeout time.Duration) (probe.Result, string, error) {
	options := grpcprobe.ProbeOptions{UseTLS: action.Mode != nil && *action.Mode == v1.GRPCProbeModeTLS}
	return overGRPC.Probe(host, service, int(action.Port), timeout, options)
}
