package server

import (
	"time"

	"minibus/config"
)

// ReadDuration implements [control.Durations].
func (a *Server) ReadDuration(text string) (time.Duration, error) { return config.ParseDuration(text) }
