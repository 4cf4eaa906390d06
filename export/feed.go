package export

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"minibus/internal/printable"
	"minibus/mgmt/atom"
)

// nothingHere is the title of the feed that stands for an entity that does not exist (management-rest 3.3).
const nothingHere = "Publicly Listed Services"

// maxNesting limits how deep elements are nested. A description inside a feed needs nine levels.
const maxNesting = 40

// entry is one entity of an answer.
type entry struct {
	name        string // its title
	description *atom.Element
}

// page is an answer.
type page struct {
	entries []entry
	more    bool // there is a link to another page
}

// parsePage reads a feed, or a single entry. It cuts out each entry and parses it alone, so that the limits of
// package atom for a document apply to one entity.
func parsePage(body []byte) (page, error) {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	s := &splitter{body: body, decoder: xml.NewDecoder(bytes.NewReader(body))}
	for {
		start := s.decoder.InputOffset()
		token, err := s.decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.take(token, start)
		}
		if err != nil {
			return page{}, fmt.Errorf("the answer is not what the administration API of Service Bus sends: %w", err)
		}
	}
	if s.depth != 0 || s.root == "" {
		return page{}, errors.New("the answer is not what the administration API of Service Bus sends: it is " +
			"incomplete")
	}
	return s.page, nil
}

// splitter finds the entries of a document.
type splitter struct {
	body    []byte
	decoder *xml.Decoder
	page    page
	root    string
	depth   int
	entryAt int64 // where the open entry begins
	inEntry bool
}

func (s *splitter) take(token xml.Token, start int64) error {
	switch t := token.(type) {
	case xml.Directive:
		return errors.New("it has a document type declaration")
	case xml.StartElement:
		return s.open(t, start)
	case xml.EndElement:
		return s.close(t)
	}
	return nil
}

func (s *splitter) open(t xml.StartElement, start int64) error {
	name := t.Name.Local
	switch {
	case s.depth >= maxNesting:
		return fmt.Errorf("elements are nested more than %d deep", maxNesting)
	case s.depth == 0 && s.root != "":
		return errors.New("it has more than one root")
	case s.depth == 0 && name != "feed" && name != "entry":
		return fmt.Errorf("it begins with %q", printable.Clip(name, 40))
	case s.depth == 0:
		s.root = name
	case s.depth == 1 && s.root == "feed" && name == "link":
		s.page.more = s.page.more || attribute(t, "rel") == "next"
	}
	if name == "entry" && (s.depth == 0 || s.depth == 1 && s.root == "feed") {
		s.inEntry, s.entryAt = true, start
	}
	s.depth++
	return nil
}

func (s *splitter) close(t xml.EndElement) error {
	s.depth--
	if s.depth < 0 {
		return errors.New("an element ends that did not begin")
	}
	closes := s.depth == 0 && s.root == "entry" || s.depth == 1 && s.root == "feed"
	if !s.inEntry || !closes || t.Name.Local != "entry" {
		return nil
	}
	s.inEntry = false
	root, err := atom.Parse(s.body[s.entryAt:s.decoder.InputOffset()], "utf-8")
	if err != nil {
		return err
	}
	description, err := root.Description()
	if err != nil {
		return err
	}
	name := strings.TrimSpace(root.Child("title").Text())
	s.page.entries = append(s.page.entries, entry{name: name, description: description})
	return nil
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// isNothing reports whether an answer is the feed for what does not exist.
func isNothing(body []byte) bool {
	return bytes.Contains(body[:min(len(body), 4096)], []byte(nothingHere))
}
