module probelet.example/gohttp

go 1.26
