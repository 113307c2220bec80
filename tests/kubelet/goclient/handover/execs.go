package handover

import (
	"context"

	"google.golang.org/grpc"

	"probelet.dev/goclient/proberv1"
)

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
