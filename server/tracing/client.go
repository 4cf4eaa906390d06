package tracing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client posts spans. That of OpenTelemetry's module otlptracehttp links gRPC, which nobody here speaks: 1.8 MB of the
// program, and six modules more to keep up with.
type client struct {
	url    string
	header http.Header
}

// tracesPath is where a collector takes spans [OTLP 1.5].
const tracesPath = "/v1/traces"

func newClient(o Options) (*client, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("the collector of traces: %w", err)
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	c := &client{url: u.String(), header: http.Header{"Content-Type": {"application/x-protobuf"}}}
	for pair := range strings.SplitSeq(o.Headers, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if value, err = url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			c.header.Set(strings.TrimSpace(name), value)
		}
	}
	return c, nil
}

// Start implements otlptrace.Client.
func (*client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (*client) Stop(context.Context) error { return nil }

// pause is the time between two tries to send a batch.
const pause = time.Second

// UploadTraces implements otlptrace.Client. It tries until ctx ends if the collector does not answer or is busy.
func (c *client) UploadTraces(ctx context.Context, spans []*pb.ResourceSpans) error {
	body, err := proto.Marshal(&pb.TracesData{ResourceSpans: spans}) // as ExportTraceServiceRequest
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	for {
		again, err := c.post(ctx, body)
		if !again {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// post sends one request, and says whether to try again.
func (c *client) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("send spans: %w", err)
	}
	r.Header = c.header.Clone()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return true, fmt.Errorf("send spans: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16)) // so that the connection is used again
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("send spans: the collector answers %s", answer.Status)
}
