package config

import (
	"fmt"
	"net/url"
	"strings"
)

// PortList is a list of ports as the user wrote it: "443,80", or "off" for none. It is a string so that settings can be
// compared; empty means not given.
type PortList string

// Ports returns the ports of the list, in its order.
func (l PortList) Ports() []Port {
	ports, _ := parsePorts(string(l)) // checked by ParseArgs
	return ports
}

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
			return nil, fmt.Errorf("found %q; allowed: ports from 0 to 65535, separated by commas, or off for none", clip(word))
		}
		ports = append(ports, p)
	}
	return ports, nil
}

func portList(field func(*Settings) *PortList) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		*field(s) = PortList(v)
		_, err := parsePorts(v)
		return err
	}
}

func nameList(field func(*Settings) *NameList) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		*field(s) = NameList(v)
		return nil
	}
}

func originList(field func(*Settings) *OriginList) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		*field(s) = OriginList(v)
		for _, word := range fields(v) {
			u, err := url.Parse(word)
			if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != word || strings.Contains(word, "*") {
				return fmt.Errorf("found %q; allowed: origins such as http://localhost:3000, as browsers write them: without a path, each by its own name", clip(word))
			}
		}
		return nil
	}
}
