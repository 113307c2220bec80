module probelet.dev/benches/harness

go 1.26.0
