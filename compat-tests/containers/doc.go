// Package containers checks that docs/containers.md shows what runs: each block of code on the page is part of the file that its first line
// names. .ci/docker-test runs those programs and compose files with a Docker engine. The command in first measures how fast they start.
package containers
