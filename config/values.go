package config

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
)

// PortList is a list of ports as the user wrote it: "443,80", or "off" for none. It is a string so that settings can be
// compared; empty means not given.
type PortList string

// Ports returns the ports of the list, in its order.
func (l PortList) Ports() []Port {
	ports, _ := parsePorts(string(l)) // checked by Read
	return ports
}

// PortRange is a range of ports as the user wrote it: "5700-5719", one port, "0" for any free ones, or "off" for none.
// It is a string so that settings can be compared; empty means not given.
type PortRange string

// DefaultNamespacePorts is the range of --namespace-ports. Nothing listens there before there are several namespaces.
const DefaultNamespacePorts PortRange = "5700-5719"

// Ends returns the first and the last port of the range; free reports that each port is any free one instead. Without
// a range last is 0.
func (r PortRange) Ends() (first, last int, free bool) {
	first, last, _ = parseRange(string(r)) // checked by Read
	return first, last, r == "0"
}

func parseRange(text string) (first, last int, err error) {
	if text == "" || text == "0" || strings.EqualFold(text, "off") {
		return 0, 0, nil
	}
	from, to, both := strings.Cut(text, "-")
	if !both {
		to = from
	}
	a, err := strconv.ParseUint(strings.TrimSpace(from), 10, 16)
	b, second := strconv.ParseUint(strings.TrimSpace(to), 10, 16)
	if err != nil || second != nil || a == 0 || a > b {
		const wrong = "found %q; allowed: a range of ports such as 5700-5719, 0 for any free ones, off for none"
		return 0, 0, fmt.Errorf(wrong, clip(text))
	}
	return int(a), int(b), nil
}

func parsePortRange(v string) (PortRange, error) {
	_, _, err := parseRange(v)
	return PortRange(v), err
}

// FileList is a list of files and directories, each on a line.
type FileList string

// Files returns the paths of the list.
func (l FileList) Files() []string {
	if l == "" {
		return nil
	}
	return strings.Split(string(l), "\n")
}

func parseFileList(v string) (FileList, error) { return FileList(v), nil }

// NameList is a list of host names and addresses, separated by commas.
type NameList string

// Names returns the names of the list.
func (l NameList) Names() []string { return fields(string(l)) }

// OriginList is a list of the origins of web pages, separated by commas.
type OriginList string

// Origins returns the origins of the list.
func (l OriginList) Origins() []string { return fields(string(l)) }

// fields splits a list at commas and spaces.
func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func parsePorts(list string) ([]Port, error) {
	if strings.EqualFold(list, "off") {
		return nil, nil
	}
	var ports []Port
	for _, word := range fields(list) {
		p, err := parsePort(word)
		if err != nil || p == PortOff {
			const wrong = "found %q; allowed: ports from 0 to 65535, separated by commas, or off for none"
			return nil, fmt.Errorf(wrong, clip(word))
		}
		ports = append(ports, p)
	}
	return ports, nil
}

func parsePortList(v string) (PortList, error) {
	_, err := parsePorts(v)
	return PortList(v), err
}

func parseNameList(v string) (NameList, error) { return NameList(v), nil }

func parseOriginList(v string) (OriginList, error) {
	for _, word := range fields(v) {
		u, err := url.Parse(word)
		plain := err == nil && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == word
		if !plain || strings.Contains(word, "*") {
			return "", fmt.Errorf("found %q; allowed: origins such as http://localhost:3000, as browsers write them: "+
				"without a path, each by its own name", clip(word))
		}
	}
	return OriginList(v), nil
}

// Size is a number of bytes.
type Size int64

// units are those of sizes, the longest names first.
var units = []struct {
	name  string
	bytes int64
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}}

// parseSize reads a whole number of bytes, KiB, MiB or GiB; off is 0.
func parseSize(v string) (Size, error) {
	text := strings.ToLower(strings.ReplaceAll(v, " ", ""))
	if text == "off" {
		return 0, nil
	}
	factor := int64(1)
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, factor = number, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("found %q; allowed: a size such as 16MiB, or off", v)
	}
	return Size(n * factor), nil
}
