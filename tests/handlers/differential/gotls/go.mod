module probelet.example/gotls

go 1.26
