package config

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Input is the name of a configuration that comes from standard input.
const Input = "-"

// inputName names it in messages.
const inputName = "standard input"

// ReadInput reads and parses a configuration from an input: all of it or, if something may follow, up to the end of its object. The error says,
// on one line, why it could not be read.
func ReadInput(r *bufio.Reader, followed bool, profile Limits) (*Topology, *Report, error) {
	read := wholeInput
	if followed {
		read = object
	}
	data, err := read(r)
	if err != nil {
		return nil, &Report{}, fmt.Errorf("read the configuration from %s: %w", inputName, err)
	}
	if len(data) == 0 {
		return nil, &Report{}, fmt.Errorf("read the configuration from %s: there is none; write a Config.json there, or leave --config out", inputName)
	}
	t, report := Parse(inputName, data, profile)
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

// object reads up to the end of the first object. What is no JSON is read up to the end of the input, for the parser to say what is wrong.
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
