// Package containers checks that docs/containers.md and the platform pages show what runs: each block of code that names a file of this
// repository is part of it. .ci/docker-test runs those programs and compose files with a Docker engine that can reach no registry, so
// SQL Server is a stand-in there. It also tries Microsoft's compose files with the image changed, and the Config.json that people have.
// The command in first measures how fast they start.
package containers
