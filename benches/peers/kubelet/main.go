// kubelet: the kubelet's own prober.Manager under load, the peer that probelet is measured beside.
//
// Workers are pods of one container with one readiness probe. Results go where the kubelet sends them: results managers,
// status manager, metrics.
package main

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"probelet.dev/benches/harness"
)

func main() {
	o := harness.Parse()
	klog.SetLogger(logr.Discard())
	harness.Run("kubelet", o, newPeer(klog.NewContext(context.Background(), logr.Discard()), o))
}
