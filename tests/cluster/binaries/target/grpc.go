package main

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
)

// health answers each Check with the next serving status of the row.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	answers string
}

func (h health) Check(ctx context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	sent, _ := metadata.FromIncomingContext(ctx)
	sent = sent.Copy()
	sent.Delete(":authority")
	_, limited := ctx.Deadline()
	name := "grpc:" + r.Service
	note("grpc", map[string]any{"name": name, "headers": lines(sent), "deadline": limited})
	given := next(name, h.answers)
	time.Sleep(given.delay)
	status := grpc_health_v1.HealthCheckResponse_ServingStatus(given.code)
	return &grpc_health_v1.HealthCheckResponse{Status: status}, nil
}

func serveGRPC(address, answers string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health{answers: answers})
	return server.Serve(listener)
}
