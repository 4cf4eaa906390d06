package cli

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/internal/amqp/messagejson"
)

// input returns what has the bodies.
func (a *app) input(args []string, f *sendFlags) (io.Reader, func(), error) {
	nothing := func() {}
	switch {
	case len(args) > 0 && f.file != "":
		return nil, nothing, Usage("send: the body is the argument or --file: leave one out")
	case len(args) > 0 && args[0] != "-":
		return strings.NewReader(args[0]), nothing, nil
	case f.file != "" && f.file != "-":
		file, err := os.Open(f.file)
		if err != nil {
			return nil, nothing, Usage("--file: %v", err)
		}
		return file, func() { _ = file.Close() }, nil
	case terminal(a.env.Stdin) && len(args) == 0 && f.file == "":
		return nil, nothing, Usage("send needs a body: an argument, --file, or standard input, which is a terminal now (- takes it)")
	}
	return a.env.Stdin, nothing, nil
}

// maxBody bounds what is read for one message; the largest one of the service has 100 MB.
const maxBody = 128 << 20

// each calls put with each message of the input. more says that another one is there already, so that they can be sent together.
func (f *sendFlags) each(ctx context.Context, input io.Reader, put func(m *azservicebus.AMQPAnnotatedMessage, more bool) error) error {
	if !f.jsonl && !f.lines {
		body, err := io.ReadAll(io.LimitReader(input, maxBody+1))
		if err != nil {
			return fmt.Errorf("read the body: %w", err)
		}
		if len(body) > maxBody {
			return Usage("send: the body has more than %d MiB", maxBody>>20)
		}
		m, err := f.fromText(body)
		if err != nil {
			return err
		}
		return put(m, false)
	}
	lines := bufio.NewReaderSize(input, 64<<10)
	for number := 1; ctx.Err() == nil; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d: %w", number, err)
		}
		end := err != nil
		line = trimLine(line)
		if (f.lines && !end) || len(line) > 0 {
			m, err := f.fromLine(line)
			if err != nil {
				return Usage("line %d: %v", number, err)
			}
			if err := put(m, lines.Buffered() > 0); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
	return ctx.Err()
}

func trimLine(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

func (f *sendFlags) fromLine(line []byte) (*azservicebus.AMQPAnnotatedMessage, error) {
	if !f.jsonl {
		return f.fromText(line)
	}
	j, err := messagejson.Read(line)
	if err != nil {
		return nil, err
	}
	f.complete(j)
	return encodeMessage(j, time.Now())
}

func (f *sendFlags) fromText(body []byte) (*azservicebus.AMQPAnnotatedMessage, error) {
	j := message{}
	f.complete(&j)
	if f.base64 {
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(body)), ""))
		if err != nil {
			return nil, Usage("send: --base64: the body is not base64")
		}
		j.BodyBase64 = data
	}
	m, err := encodeMessage(&j, time.Now())
	if err != nil {
		return nil, Usage("send: %v", err)
	}
	if !f.base64 {
		m.Body.Data = [][]byte{body}
	}
	return m, nil
}
