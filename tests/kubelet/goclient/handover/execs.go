package handover

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	remote "k8s.io/cri-client/pkg"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/utils/exec"

	"probelet.dev/goclient/proberv1"
)

// maxRead is how much output of a command counts (kubelet probe/exec/exec.go).
const maxRead = 10 << 10

// CarryOutExecs answers the service's exec attempts until the stream ends. It calls run concurrently.
func (m *Manager) CarryOutExecs(ctx context.Context, run func(*proberv1.ExecAttempt) *proberv1.ExecAnswer) error {
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := m.conn.NewStream(ctx, desc, service+"CarryOutExecs")
	if err != nil {
		return err
	}
	answers := make(chan *proberv1.ExecAnswer)
	go func() {
		for {
			select {
			case answer := <-answers:
				if stream.SendMsg(answer) != nil {
					return
				}
			case <-stream.Context().Done():
				return
			}
		}
	}()
	for {
		attempt := &proberv1.ExecAttempt{}
		if err := stream.RecvMsg(attempt); err != nil {
			return err
		}
		go func() {
			answer := run(attempt)
			answer.Run = attempt.Run
			select {
			case answers <- answer:
			case <-stream.Context().Done():
			}
		}()
	}
}

// InContainers runs attempts as a kubelet's prober does (kubelet prober.go:newExecInContainer, probe/exec/exec.go).
func InContainers(ctx context.Context, runner kubecontainer.CommandRunner) func(*proberv1.ExecAttempt) *proberv1.ExecAnswer {
	return func(attempt *proberv1.ExecAttempt) *proberv1.ExecAnswer {
		id, timeout := kubecontainer.ParseContainerID(attempt.ContainerId), time.Duration(attempt.TimeoutSeconds)*time.Second
		output, err := runner.RunInContainer(ctx, id, attempt.Argv, timeout)
		if exit, ok := err.(exec.ExitError); ok || err == nil {
			code := int32(0)
			if ok {
				code = int32(exit.ExitStatus())
			}
			exited := &proberv1.Exit{Code: code, Output: output[:min(len(output), maxRead)]}
			return &proberv1.ExecAnswer{Outcome: &proberv1.ExecAnswer_Exit{Exit: exited}}
		}
		if errors.Is(err, remote.ErrCommandTimedOut) {
			return &proberv1.ExecAnswer{Outcome: &proberv1.ExecAnswer_Timeout{Timeout: err.Error()}}
		}
		return &proberv1.ExecAnswer{Outcome: &proberv1.ExecAnswer_Error{Error: err.Error()}}
	}
}
