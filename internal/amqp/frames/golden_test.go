package frames_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
)

// goldenFrame is one line of a file of testdata/golden, recorded by compat-tests/capture from real SDKs.
type goldenFrame struct {
	line       int
	fromClient bool
	connection string
	bytes      []byte
}

func readGolden(t *testing.T, path string) []goldenFrame {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatalf("open golden file: %v", err)
	}
	defer file.Close()
	var list []goldenFrame
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[0] == "#" {
			continue
		}
		raw, err := hex.DecodeString(fields[2])
		if err != nil {
			t.Fatalf("%s:%d: %v", path, number, err)
		}
		list = append(list, goldenFrame{number, fields[0] == "C", fields[1], raw})
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("read golden file: %v", err)
	}
	return list
}

func goldenFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/golden/*.hex")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return files
}

// TestGoldenFrames decodes every frame that real clients sent or understood, and checks that our own encoding of it
// decodes to the same values.
func TestGoldenFrames(t *testing.T) {
	for _, path := range goldenFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			kinds := make(map[string]int)
			for _, f := range readGolden(t, path) {
				if string(f.bytes[:4]) == "AMQP" {
					continue
				}
				header, err := frames.ParseHeader(f.bytes)
				if err != nil || int(header.Size) != len(f.bytes) {
					t.Fatalf("line %d: header %+v: %v", f.line, header, err)
				}
				body := f.bytes[header.BodyStart:]
				p, _, err := frames.DecodeBody(body)
				if err != nil {
					t.Errorf("line %d: %v", f.line, err)
					continue
				}
				if p == nil {
					kinds["heartbeat"]++
					continue
				}
				kinds[p.Name()]++
				if flow, ok := p.(*frames.Flow); ok {
					flow.HasAvailable = flow.HasHandle // we always write it for a link
				}
				again, rest, err := frames.DecodeBody(p.AppendTo(nil))
				if err != nil || len(rest) != 0 || !reflect.DeepEqual(again, p) {
					t.Errorf("line %d: decoded %+v, and from our own encoding %+v (%d bytes left, %v)", f.line, p, again, len(rest), err)
				}
			}
			t.Log(kinds)
			for _, kind := range []string{"open", "begin", "attach", "flow", "transfer", "disposition"} {
				if kinds[kind] == 0 {
					t.Errorf("no %s frame in %d kinds", kind, len(kinds))
				}
			}
		})
	}
}

// TestGoldenMessages puts transfers together and reads the messages: our code reads what the client sent, and the client's
// library reads what we sent.
func TestGoldenMessages(t *testing.T) {
	for _, path := range goldenFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			count := 0
			parts := make(map[string][]byte)
			for _, f := range readGolden(t, path) {
				header, err := frames.ParseHeader(f.bytes)
				if err != nil || string(f.bytes[:4]) == "AMQP" || !frames.IsTransfer(f.bytes[header.BodyStart:]) {
					continue
				}
				var transfer frames.Transfer
				payload, err := transfer.Decode(f.bytes[header.BodyStart:])
				if err != nil {
					t.Fatalf("line %d: %v", f.line, err)
				}
				key := fmt.Sprint(f.connection, f.fromClient, header.Channel, transfer.Handle)
				parts[key] = append(parts[key], payload...)
				if transfer.More {
					continue
				}
				if err := readMessage(f.fromClient, parts[key]); err != nil {
					t.Errorf("line %d: %v", f.line, err)
				}
				delete(parts, key)
				count++
			}
			if count == 0 {
				t.Error("no message in the file")
			}
		})
	}
}

func readMessage(fromClient bool, raw []byte) error {
	if fromClient {
		m, err := message.Scan(raw)
		if err != nil {
			return err
		}
		_, err = m.Info()
		return err
	}
	var m goamqp.Message
	return m.UnmarshalBinary(raw)
}
