// Command kubelet calls the probe handlers of Kubernetes as the kubelet's prober does. It reads one JSON object a line on
// standard input, carries out that probe once, and writes one JSON object a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	// The kubelet links this package, whose exporter of traces registers grpc-go's gzip for all calls of the process. So
	// a kubelet's gRPC probes offer gzip.
	_ "k8s.io/component-base/tracing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
)

// A question is a probe and the container that it probes.
type question struct {
	Probe v1.Probe           `json:"probe"`
	PodIP string             `json:"pod_ip"`
	Ports []v1.ContainerPort `json:"ports"`
}

// An answer is what the handler returns. The output is base64, because a body may hold any bytes.
type answer struct {
	Result string  `json:"result"`
	Output []byte  `json:"output"`
	Error  *string `json:"error"`
}

// A line is long enough for the longest probe of a case.
const lineBytesMax = 16 << 20

// The handlers of prober.newProber.
var (
	overHTTP = httpprobe.New(false)
	overTCP  = tcpprobe.New()
	overGRPC = grpcprobe.New()
)

func main() {
	klog.SetOutput(nothing{})
	klog.LogToStderr(false)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, lineBytesMax)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, "kubelet: not a question:", err)
			os.Exit(2)
		}
		result, output, err := run(asked)
		given := answer{Result: string(result), Output: []byte(output)}
		if err != nil {
			text := err.Error()
			given.Error = &text
		}
		if err := answers.Encode(given); err != nil {
			os.Exit(1)
		}
	}
}

// run is prober.runProbe, without exec.
func run(asked question) (probe.Result, string, error) {
	timeout := time.Duration(asked.Probe.TimeoutSeconds) * time.Second
	container := v1.Container{Ports: asked.Ports}
	switch {
	case asked.Probe.HTTPGet != nil:
		request, err := httpprobe.NewRequestForHTTPGetAction(asked.Probe.HTTPGet, &container, asked.PodIP, "probe")
		if err != nil {
			return probe.Unknown, "", err
		}
		return probeHTTP(asked.Probe.HTTPGet, request, timeout)
	case asked.Probe.TCPSocket != nil:
		port, err := probe.ResolveContainerPort(asked.Probe.TCPSocket.Port, &container)
		if err != nil {
			return probe.Unknown, "", err
		}
		host := asked.Probe.TCPSocket.Host
		if host == "" {
			host = asked.PodIP
		}
		return overTCP.Probe(host, port, timeout)
	default:
		service := ""
		if asked.Probe.GRPC.Service != nil {
			service = *asked.Probe.GRPC.Service
		}
		return probeGRPC(asked.Probe.GRPC, asked.PodIP, service, timeout)
	}
}

// nothing takes log lines.
type nothing struct{}

func (nothing) Write(line []byte) (int, error) { return len(line), nil }
