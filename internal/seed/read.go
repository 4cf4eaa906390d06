package seed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minibus/internal/amqp/messagejson"
	"minibus/internal/printable"
	"minibus/internal/strictjson"
)

// Extension is that of the files of a directory, and of a file whose name is that of an entity.
const Extension = ".jsonl"

// maxLine bounds a line, in bytes; the largest message of the service has 100 MB.
const maxLine = 160 << 20

// Line is a message of a file.
type Line struct {
	Namespace string // "": the default one, or that of a connection
	Entity    string // path, also of a sub-queue

	byFile  bool // the entity is the name of the file
	file    string
	number  int
	text    []byte
	counter int // of the messages of the entity, from 1
}

// Place returns file and line, for messages.
func (l *Line) Place() string { return fmt.Sprintf("%s:%d", l.file, l.number) }

// Target names where the message goes, for messages.
func (l *Line) Target() string {
	target := l.Entity
	if l.Namespace != "" {
		target += " in the namespace " + l.Namespace
	}
	if l.byFile {
		target += " (the line names no entity, so the file's name counts)"
	}
	return target
}

// written is a line of a file. Fields that only the service sets are ignored.
type written struct {
	Namespace string `json:"namespace,omitempty"`
	Entity    string `json:"entity,omitempty"`
	messagejson.Message

	SequenceNumber         json.RawMessage `json:"sequenceNumber"`
	EnqueuedSequenceNumber json.RawMessage `json:"enqueuedSequenceNumber"`
	State                  json.RawMessage `json:"state"`
	EnqueuedTime           json.RawMessage `json:"enqueuedTime"`
	ExpiresAt              json.RawMessage `json:"expiresAt"`
	LockedUntil            json.RawMessage `json:"lockedUntil"`
	LockedBy               json.RawMessage `json:"lockedBy"`
	LockToken              json.RawMessage `json:"lockToken"`
	DeliveryCount          json.RawMessage `json:"deliveryCount"`
	DeadLetterSource       json.RawMessage `json:"deadLetterSource"`
	SizeBytes              json.RawMessage `json:"sizeBytes"`
	BodyBytes              json.RawMessage `json:"bodyBytes"`
}

// Read reads files, and the files with [Extension] of directories and those below, in the order of their names, without
// hidden ones. An entity that a line does not name is that of the file: orders.jsonl has the messages of orders, and
// events/Subscriptions/large.jsonl in a directory those of events/Subscriptions/large. "-" is the input, unless that
// is nil. Every line is checked. An error is one line that begins with the place.
func Read(paths []string, input io.Reader) ([]*Line, error) {
	r := reader{counters: make(map[string]int)}
	for _, path := range paths {
		if path == "-" && input != nil {
			if err := r.read(input, "standard input", ""); err != nil {
				return nil, err
			}
			continue
		}
		files, err := find(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if err := r.file(f.path, f.entity); err != nil {
				return nil, err
			}
		}
	}
	return r.lines, nil
}

// found is a file, with the entity that its name says.
type found struct{ path, entity string }

// find returns the files of a path.
func find(path string) (files []found, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the seed: %s does not exist; name a file of JSON lines or a directory of them",
			path)
	case err != nil:
		return nil, fmt.Errorf("read the seed: %w", err)
	case !info.IsDir():
		return []found{{path, entityOf(filepath.Base(path))}}, nil
	}
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if hidden := file != path && strings.HasPrefix(entry.Name(), "."); err == nil && hidden {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || entry.IsDir() || !strings.EqualFold(filepath.Ext(file), Extension) {
			return err
		}
		below, err := filepath.Rel(path, file)
		files = append(files, found{file, entityOf(filepath.ToSlash(below))})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the seed: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read the seed: %s has no files whose names end in %s, such as orders%[2]s", path,
			Extension)
	}
	return files, nil
}

// entityOf returns the entity that the name of a file says.
func entityOf(name string) string {
	if ext := filepath.Ext(name); strings.EqualFold(ext, Extension) {
		return name[:len(name)-len(ext)]
	}
	return ""
}

// FileName returns the name of the file, below a directory, that has the messages of an entity.
func FileName(entity string) string { return filepath.FromSlash(entity) + Extension }

type reader struct {
	lines    []*Line
	counters map[string]int // by namespace and entity
}

func (r *reader) file(path, entity string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read the seed: %w", err)
	}
	defer func() { _ = f.Close() }()
	return r.read(f, path, entity)
}

// read reads the lines of a file. entity is that of lines that name none.
func (r *reader) read(in io.Reader, file, entity string) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		text, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", file, number, err)
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		}
		if text = bytes.TrimRight(text, "\r\n"); len(bytes.TrimSpace(text)) > 0 {
			if err := r.line(&Line{Entity: entity, file: file, number: number, text: text}); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

func readLine(lines *bufio.Reader) (text []byte, err error) {
	for {
		piece, err := lines.ReadSlice('\n')
		text = append(text, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
		if len(text) > maxLine {
			return nil, fmt.Errorf("the line has more than %d MiB", maxLine>>20)
		}
	}
}

// line checks a line and takes it in.
func (r *reader) line(l *Line) error {
	w, err := l.parse(time.Now())
	if err != nil {
		return err
	}
	l.Namespace, l.byFile = w.Namespace, w.Entity == ""
	if w.Entity != "" {
		l.Entity = w.Entity
	}
	l.Entity = strings.Trim(l.Entity, "/")
	if l.Entity == "" {
		return fmt.Errorf(`%s: the message has no entity; add "entity":"orders", or call the file orders%s`, l.Place(),
			Extension)
	}
	key := strings.ToLower(l.Namespace + "\x00" + l.Entity)
	r.counters[key]++
	l.counter = r.counters[key]
	r.lines = append(r.lines, l)
	return nil
}

// parse reads the text of the line with what placeholders stand for now.
func (l *Line) parse(now time.Time) (*written, error) {
	if err := l.syntax(); err != nil {
		return nil, err
	}
	text, err := expand(l.text, values{now, l.counter})
	if at := (*placeError)(nil); errors.As(err, &at) {
		return nil, fmt.Errorf("%s:%d: %w", l.Place(), column(l.text, at.offset), err)
	}
	w := &written{}
	if err = strictjson.Decode(text, w); err == nil {
		w.KeepOrder(text)
		err = w.check(now)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Place(), err)
	}
	return w, nil
}

// check reports what can't be sent.
func (w *written) check(now time.Time) error {
	_, err := w.Message.Encode(now)
	return err
}

// syntax reports what is no object in JSON.
func (l *Line) syntax() error {
	if first := bytes.TrimSpace(l.text)[0]; first != '{' {
		return fmt.Errorf("%s:%d: found %s; allowed: a message in JSON, { ... }, whole on each line", l.Place(),
			column(l.text, bytes.IndexByte(l.text, first)), printable.Clip(string(bytes.TrimSpace(l.text)), 20))
	}
	var raw json.RawMessage
	err := json.Unmarshal(l.text, &raw)
	if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s:%d: %w; write one whole message in JSON on each line, { ... }", l.Place(),
			column(l.text, int(wrong.Offset)-1), err)
	}
	return err
}

// Message returns the message of the line with what its placeholders stand for at a time.
func (l *Line) Message(now time.Time) (*messagejson.Message, error) {
	w, err := l.parse(now)
	if err != nil {
		return nil, err
	}
	return &w.Message, nil
}
