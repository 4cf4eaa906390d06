//go:build !linux

package server

import "log/slog"

// becomeUser is for the container image, which is Linux.
func becomeUser(user, _ string, log *slog.Logger) {
	if user != "" {
		log.Warn("--user has an effect on Linux only")
	}
}

// giveToOwner is for the container image, too.
func giveToOwner(string, ...string) {}
