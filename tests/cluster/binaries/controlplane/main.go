// Controlplane is etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl in one binary: the name that it
// is started by chooses the program. One binary links the code that they share once, which halves the size and the build.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	// A function each, because building a command already registers flags and metrics.
	commands := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllers.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kubectl":                 kubectl.NewDefaultKubectlCommand,
	}
	name := filepath.Base(os.Args[0])
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, known := commands[name]
	if !known {
		fmt.Fprintf(os.Stderr, "controlplane: %s: not the name of one of its programs\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
