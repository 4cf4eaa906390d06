package config

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// standardPath is the path of the configuration in Microsoft's image, where users mount theirs.
const standardPath = "/ServiceBus_Emulator/ConfigFiles/Config.json"

// maxFileSize bounds the file, in bytes; ten thousand entities with every property set take about 10 MiB.
const maxFileSize = 64 << 20

// defaultJSON is the topology without a file.
//
//go:embed default.json
var defaultJSON []byte

// DefaultTopology returns the entities of Microsoft's emulator without a file: queue.1, and topic.1 with four
// subscriptions.
func DefaultTopology() *Topology {
	t, report := Parse("default.json", defaultJSON, ProfileRelaxed)
	if err := report.Err(); err != nil {
		panic("config: the embedded topology is broken: " + err.Error())
	}
	return t
}

// Load reads and parses files as one configuration: their entities add up, and none may be in two of them. [Input] is
// standard input. The error says, on one line, why a file could not be read; the report has the findings in their
// content.
func Load(files []string, profile Profile) (*Topology, *Report, error) {
	return LoadFrom(files, bufio.NewReader(os.Stdin), false, profile)
}

// LoadFrom is [Load] with another input: all of it or, if something may follow, up to the end of its object.
func LoadFrom(files []string, input *bufio.Reader, followed bool, profile Profile) (*Topology, *Report, error) {
	var parts []Part
	given := make(map[string]bool)
	for _, path := range files {
		if given[filepath.Clean(path)] {
			return nil, &Report{}, fmt.Errorf("read the configuration: the file %s was given twice", path)
		}
		given[filepath.Clean(path)] = true
		p := Part{From: path}
		var err error
		if path == Input {
			p.From = inputName
			p.JSON, err = readInput(input, followed)
		} else {
			p.JSON, err = readFile(path)
		}
		if err != nil {
			return nil, &Report{}, err
		}
		parts = append(parts, p)
	}
	t, report := newDecoder(profile).assemble(parts...)
	return t, report, nil
}

// Find returns the files to load: those that are named, else /ServiceBus_Emulator/ConfigFiles/Config.json if it
// exists, else none.
func Find(named FileList) []string {
	if named != "" {
		return named.Files()
	}
	// Load explains all errors but "does not exist": a directory, a file that may not be read.
	if _, err := os.Stat(standardPath); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	return []string{standardPath}
}

func readFile(path string) ([]byte, error) {
	if name, is := strings.CutSuffix(path, ".bicep"); is {
		return nil, fmt.Errorf("read the configuration: %s is no JSON; "+
			"run az bicep build --file %[1]s, and give %s.json", path, name)
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("read the configuration: %s is a directory, not a file; "+
			"container engines make one when the file to mount does not exist on the host: "+
			"create the file, remove the directory, start again", path)
	}
	var data []byte
	if err == nil {
		data, err = readBounded(path)
	}
	if err != nil {
		return nil, explain(path, err)
	}
	return data, nil
}

// explain turns the operating system's error into one line that says what to do.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read the configuration: %s does not exist; "+
			"correct --config, or leave it out for the default entities", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("read the configuration: %s may not be read by user %d; run: chmod a+r %[1]s",
			path, os.Getuid())
	}
	return fmt.Errorf("read the configuration: %w", err)
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("%s is larger than %d MiB, too large for a configuration", path, maxFileSize>>20)
	}
	return data, nil
}

// Input is the name of a configuration that comes from standard input.
const Input = "-"

// inputName names it in messages.
const inputName = "standard input"

// readInput reads a configuration from an input.
func readInput(r *bufio.Reader, followed bool) ([]byte, error) {
	read := wholeInput
	if followed {
		read = object
	}
	data, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("read the configuration from %s: %w", inputName, err)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("read the configuration from %s: there is none; "+
			"write a Config.json there, or leave --config out", inputName)
	}
	return data, nil
}

// ParseText parses the configuration that a setting holds.
func (s Settings) ParseText() (*Topology, *Report, error) {
	if s.Config != "" {
		return nil, &Report{}, errors.New("--config and --config-json (MINIBUS_CONFIG_JSON) are both given; give one")
	}
	t, report := Parse("--config-json", []byte(s.ConfigJSON), s.Limits)
	return t, report, nil
}

var errTooLarge = fmt.Errorf("it is larger than %d MiB, too large for a configuration", maxFileSize>>20)

func wholeInput(r *bufio.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFileSize+1))
	if err == nil && len(data) > maxFileSize {
		err = errTooLarge
	}
	return data, err
}

// object reads up to the end of the first object. What is no JSON is read up to the end of the input, for the parser
// to say what is wrong.
func object(r *bufio.Reader) (data []byte, err error) {
	depth, quoted := 0, false
	comment := "" // how the one ends in which the text is
	for len(data) <= maxFileSize {
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		data = append(data, c)
		before := byte(0)
		if len(data) > 1 {
			before = data[len(data)-2]
		}
		switch {
		case comment != "":
			if c == comment[len(comment)-1] && (len(comment) == 1 || before == comment[0]) {
				comment = ""
			}
		case quoted && c == '\\':
			if c, err = r.ReadByte(); err == nil {
				data = append(data, c)
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case before == '/' && c == '/':
			comment = "\n"
		case before == '/' && c == '*':
			comment = "*/"
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return data, nil
			}
		}
	}
	return nil, errTooLarge
}
