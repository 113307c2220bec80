// blackbox: blackbox_exporter's own probers under load. It has no scheduler of its own (Prometheus asks it), so here each
// worker is a goroutine with a ticker that does what its handler does for one request: a fresh registry, one probe.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/blackbox_exporter/config"
	"github.com/prometheus/blackbox_exporter/prober"
	"github.com/prometheus/client_golang/prometheus"
	"probelet.dev/benches/harness"
)

const timeout = time.Second

func main() {
	o := harness.Parse()
	harness.Run("blackbox", o, newPeer(o))
}

type peer struct {
	options  harness.Options
	probe    prober.ProbeFn
	module   config.Module
	targets  []string
	ctx      context.Context
	cancel   context.CancelFunc
	measured atomic.Int64
	failed   atomic.Int64
}

func newPeer(o harness.Options) *peer {
	p := &peer{options: o, module: config.DefaultModule}
	p.module.Timeout = timeout
	p.module.GRPC.IPProtocolFallback = true // DefaultModule forgets gRPC
	p.module.HTTP.HTTPClientConfig.TLSConfig.InsecureSkipVerify = true
	prefix, suffix := "", ""
	switch o.Handler {
	case "http", "https":
		p.probe, prefix, suffix = prober.ProbeHTTP, o.Handler+"://", "/healthz"
	case "tcp":
		p.probe = prober.ProbeTCP
	case "grpc":
		p.probe = prober.ProbeGRPC
	default:
		harness.Refuse(fmt.Errorf("there is no handler %q; want http, https, tcp or grpc", o.Handler))
	}
	for worker := range o.Workers {
		where := o.Where(worker)
		p.targets = append(p.targets, prefix+net.JoinHostPort(where.Address(worker), strconv.Itoa(int(where.Port)))+suffix)
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

func (p *peer) Add() {
	for worker := range p.targets {
		go p.run(worker)
	}
}

func (p *peer) Remove() { p.cancel() }

func (p *peer) Endure(end time.Time) { time.Sleep(time.Until(end)) }

func (p *peer) Lateness() map[string]float64 { return nil }

func (p *peer) Counts() harness.Counts {
	return harness.Counts{Probes: p.measured.Load(), FalseFailures: p.failed.Load()}
}

func (p *peer) run(worker int) {
	if !p.options.Burst {
		time.Sleep(rand.N(p.options.Period))
	}
	ticker := time.NewTicker(p.options.Period)
	defer ticker.Stop()
	for {
		p.ask(worker)
		select {
		case <-ticker.C:
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *peer) ask(worker int) {
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	good := p.probe(ctx, p.targets[worker], p.module, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	p.measured.Add(1)
	if !good && !p.options.Faulty.Has(worker) {
		p.failed.Add(1)
	}
}
