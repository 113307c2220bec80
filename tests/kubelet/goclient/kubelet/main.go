// Command kubelet is the kubelet of the published module k8s.io/kubernetes, whose prober is `probelet serve` at the
// socket PROBELET_SOCKET. Its build adds a hook to each of two constructors of that module (../kubelet.py).
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"

	"probelet.dev/goclient/handover"
)

func main() {
	ctx := context.Background()
	logger := klog.FromContext(ctx)
	socket := os.Getenv("PROBELET_SOCKET")
	if socket == "" {
		fmt.Fprintln(os.Stderr, "PROBELET_SOCKET: Required value: the socket of probelet serve")
		os.Exit(2)
	}
	manager, err := handover.Dial(socket, func(err error) { logger.Error(err, "probelet") })
	if err != nil {
		logger.Error(err, "probelet")
		os.Exit(1)
	}
	status.Wrap = func(kept status.Manager) status.Manager { return handover.NewStatuses(kept, manager) }
	prober.HandOver = func(
		liveness, readiness, startup results.Manager,
		runner kubecontainer.CommandRunner,
		recorder record.EventRecorderLogger,
	) prober.Manager {
		caches := handover.NewCaches(liveness, readiness, startup)
		go manager.Keep(ctx, caches, handover.InContainers(ctx, runner), recorder)
		return manager
	}
	os.Exit(cli.Run(app.NewKubeletCommand(ctx)))
}
