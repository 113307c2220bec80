//go:build !kubelet_1_37

package main

import (
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/probe"
)

func probeHTTP(_ *v1.HTTPGetAction, request *http.Request, timeout time.Duration) (probe.Result, string, error) {
	return overHTTP.Probe(request, timeout)
}

func probeGRPC(action *v1.GRPCAction, host, service string, timeout time.Duration) (probe.Result, string, error) {
	return overGRPC.Probe(host, service, int(action.Port), timeout)
}
