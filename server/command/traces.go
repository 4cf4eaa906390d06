package command

import (
	"context"
	"log/slog"
	"os"
	"time"

	"minibus/config"
	"minibus/server"
	"minibus/server/tracing"
)

// flushTime is how long the end waits for a collector. With drainTime it is less than container engines wait.
const flushTime = 1500 * time.Millisecond

// headersVariable has headers for the collector, such as its key. The other variables of OpenTelemetry are for the
// programs that Minibus serves, which often share its environment.
const headersVariable = "OTEL_EXPORTER_OTLP_HEADERS"

// traced sends traces to the collector of the settings, if they name one, until stop.
func traced(a *server.Server, s config.Settings, log *slog.Logger) (stop func(), err error) {
	if s.OTLP == "" {
		return func() {}, nil
	}
	t, err := tracing.Start(a.Broker(), tracing.Options{
		URL: s.OTLP, Headers: os.Getenv(headersVariable), Version: server.Version(), Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		if err := t.Close(ctx); err != nil {
			log.Warn("some spans were not sent", "reason", err)
		}
	}, nil
}
