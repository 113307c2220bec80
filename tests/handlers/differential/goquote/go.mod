module goquote

go 1.26
