module minibus/packaging/licenses

go 1.26.0
