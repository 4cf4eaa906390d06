//go:build linux

package store

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What a process does to its files is recorded from outside, with strace: so it is what the kernel got, in its order,
// whoever calls it, and no line of the store knows of it. The answers of the process are writes to its standard
// output, which stand in the same record.

// diskEvent is a system call. It takes effect at some time between the two lines of the record at which it begins and
// ends.
type diskEvent struct {
	call       string // pwrite64, ftruncate, sync, create, unlink, answer
	name       string // of the file; empty for the directory
	inode      int
	data       []byte
	at         int64 // where data go; the length of ftruncate; which change was answered
	begin, end int
}

// diskRecord puts the records of several processes together.
type diskRecord struct {
	dir    string
	events []*diskEvent
	names  map[string]int // inode by name
	inodes int
	line   int
}

func newDiskRecord(dir string) *diskRecord { return &diskRecord{dir: dir, names: map[string]int{}} }

// diskHandle is what a file descriptor stands for.
type diskHandle struct {
	name  string
	inode int
}

// add reads the record of a process. The names in it are in hexadecimal, and so are the data.
func (d *diskRecord) add(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	files := map[int]diskHandle{}     // by descriptor
	begun := map[string]string{}      // calls that have not ended, by thread
	events := map[string]*diskEvent{} // of those
	before := len(d.events)
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		text, err := in.ReadString('\n')
		if err == io.EOF {
			return d.settle(before)
		}
		if err != nil {
			return err
		}
		d.line++
		thread, call, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		call = strings.TrimLeft(call, " ")
		half, ok := strings.CutSuffix(call, " <unfinished ...>")
		if !ok {
			half, ok = strings.CutSuffix(call, " <detached ...>")
		}
		if ok {
			begun[thread], events[thread] = half, d.begin(half, files)
			continue
		}
		e := events[thread]
		delete(events, thread)
		resumed := strings.HasPrefix(call, "<... ")
		if resumed {
			_, rest, _ := strings.Cut(call, " resumed>")
			call = begun[thread] + rest
		}
		end := strings.LastIndex(call, ") ")
		if end < 0 {
			continue // a signal or an exit
		}
		if !resumed {
			e = d.begin(call[:end], files)
		}
		switch result := strings.TrimLeft(call[end+2:], "= "); {
		case strings.HasPrefix(result, "? ERESTART"): // the call is made again
			d.end(call[:end], -1, e, files)
		case strings.HasPrefix(result, "?"): // the process was killed
		default:
			n, _ := strconv.Atoi(strings.Fields(result + " x")[0])
			d.end(call[:end], n, e, files)
		}
	}
}

// afterCommit ends the calls in which a process was killed. The kernel did them, or not, or a part: a write counts as one
// of what its place in the file has now. Had they no end, no later sync would cover them, and states would get them
// on top of what the next process wrote there.
func (d *diskRecord) settle(first int) error {
	for _, e := range d.events[first:] {
		if e.end < 1<<60 {
			continue
		}
		e.end = d.line
		data, err := os.ReadFile(filepath.Join(d.dir, e.name))
		gone := errors.Is(err, fs.ErrNotExist)
		if err != nil && !gone && e.name != "" {
			return err
		}
		done := false
		switch e.call {
		case "pwrite64":
			length := int64(len(data))
			e.data = data[min(e.at, length):min(e.at+int64(len(e.data)), length)]
			done = len(e.data) > 0
		case "ftruncate":
			done = int64(len(data)) == e.at
		case "unlink":
			if done = gone; done {
				delete(d.names, e.name)
			}
		case "answer":
			done = true
		}
		if !done {
			e.call = "failed"
		}
	}
	return nil
}

// begin notes the event of a call that has begun, if there is one. It has no end yet.
func (d *diskRecord) begin(call string, files map[int]diskHandle) *diskEvent {
	if fd, ok := strings.CutPrefix(call, "close("); ok { // another call may get the descriptor before this one ends
		n, _ := strconv.Atoi(fd)
		delete(files, n)
	}
	e := d.parse(call, files)
	if e != nil {
		e.begin, e.end = d.line, 1<<60
		d.events = append(d.events, e)
	}
	return e
}

// end notes what came of a call.
func (d *diskRecord) end(call string, result int, e *diskEvent, files map[int]diskHandle) {
	head, args, _ := strings.Cut(call, "(")
	switch name, ours := "", false; {
	case result < 0:
		if e != nil {
			e.call = "failed"
		}
	case head == "open" || head == "openat":
		if name, ours = d.nameIn(args); !ours {
			delete(files, result)
			break
		}
		if _, there := d.names[name]; !there && name != "" {
			d.inodes++
			d.names[name] = d.inodes
			d.events = append(d.events, &diskEvent{call: "create", name: name, inode: d.inodes, begin: d.line, end: d.line})
		}
		files[result] = diskHandle{name, d.names[name]}
	case e != nil:
		if e.end = d.line; e.call == "unlink" {
			delete(d.names, e.name)
		}
	}
}

// parse returns the event of a call, without its end; nil: it is none of ours.
func (d *diskRecord) parse(call string, files map[int]diskHandle) *diskEvent {
	head, args, _ := strings.Cut(call, "(")
	if head == "unlink" || head == "unlinkat" {
		name, ours := d.nameIn(args)
		if _, there := d.names[name]; !ours || !there {
			return nil
		}
		return &diskEvent{call: "unlink", name: name, inode: d.names[name]}
	}
	first, rest, _ := strings.Cut(args, ",")
	fd, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return nil
	}
	if head == "write" {
		e := &diskEvent{call: "answer"}
		if _, err := fmt.Sscanf(string(quoted(rest)), "a %d\n", &e.at); err != nil || fd != 1 {
			return nil
		}
		return e
	}
	file, ours := files[fd]
	if !ours {
		return nil
	}
	e := &diskEvent{call: head, name: file.name, inode: file.inode}
	switch head {
	case "pwrite64":
		e.data = quoted(rest)
		e.at, _ = strconv.ParseInt(rest[strings.LastIndexByte(rest, ' ')+1:], 10, 64)
	case "ftruncate":
		e.at, _ = strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
	case "fsync", "fdatasync":
		e.call = "sync"
	default:
		return nil
	}
	return e
}

// nameIn returns the first name in the arguments of a call, if it is that of the database, its log, its journal or
// their directory.
func (d *diskRecord) nameIn(args string) (name string, ours bool) {
	path := string(quoted(args))
	if path == d.dir {
		return "", true
	}
	name, ours = strings.CutPrefix(path, d.dir+"/")
	return name, ours && slices.Contains([]string{"a.db", "a.db-wal", "a.db-journal"}, name)
}

// quoted returns the first text in quotes.
func quoted(s string) []byte {
	_, s, _ = strings.Cut(s, `"`)
	s, _, _ = strings.Cut(s, `"`)
	b, _ := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	return b
}

// disk is a disk on its way through a record: what is surely on it, and what may be.
type disk struct {
	record  *diskRecord
	next    int               // event
	files   map[int]*diskFile // by inode
	entries []*diskEvent      // of the directory, not synced
	names   map[string]int    // of the directory, synced
	syncs   []*diskEvent      // begun and not applied
	answers int               // given
}

type diskFile struct {
	data    []byte
	pending []*diskEvent
}

func newDisk(r *diskRecord) *disk {
	return &disk{record: r, files: map[int]*diskFile{}, names: map[string]int{}}
}

func (d *disk) file(inode int) *diskFile {
	if d.files[inode] == nil {
		d.files[inode] = &diskFile{}
	}
	return d.files[inode]
}

// advance goes to a line of the record. The disk has to have what a sync that has ended found when it began.
func (d *disk) advance(line int) {
	for ; d.next < len(d.record.events) && d.record.events[d.next].begin <= line; d.next++ {
		switch e := d.record.events[d.next]; e.call {
		case "pwrite64", "ftruncate":
			f := d.file(e.inode)
			f.pending = append(f.pending, e)
		case "create", "unlink":
			d.entries = append(d.entries, e)
		case "sync":
			d.syncs = append(d.syncs, e)
		case "answer":
			d.answers++
		}
	}
	d.syncs = slices.DeleteFunc(d.syncs, func(s *diskEvent) bool {
		if s.end > line {
			return false
		}
		d.sync(s)
		return true
	})
}

func (d *disk) sync(s *diskEvent) {
	before := func(e *diskEvent) bool { return e.end < s.begin }
	last := -1
	for i, e := range d.entries { // a file that is synced has a name, and what was done to the directory before happened too
		if before(e) && (s.name == "" || e.call == "create" && e.inode == s.inode) {
			last = i
		}
	}
	enter(d.names, d.entries[:last+1])
	d.entries = d.entries[last+1:]
	if s.name == "" {
		return
	}
	f := d.file(s.inode)
	f.pending = slices.DeleteFunc(f.pending, func(e *diskEvent) bool {
		if before(e) {
			f.data = e.applied(f.data)
		}
		return before(e)
	})
}

func enter(names map[string]int, entries []*diskEvent) {
	for _, e := range entries {
		if names[e.name] = e.inode; e.call == "unlink" {
			delete(names, e.name)
		}
	}
}

// applied returns what a file has after a write or truncation.
func (e *diskEvent) applied(data []byte) []byte {
	if e.call == "ftruncate" {
		return resized(data, int(e.at))
	}
	if end := int(e.at) + len(e.data); end > len(data) {
		data = resized(data, end)
	}
	copy(data[e.at:], e.data)
	return data
}

// resized returns data with another length; what is added is zero.
func resized(data []byte, length int) []byte {
	if length <= len(data) {
		return data[:length]
	}
	data = slices.Grow(data, length-len(data))
	clear(data[len(data):length])
	return data[:length]
}

// The kinds of loss at a cut.
var powerLosses = []string{"nothing", "all", "the rest", "some", "most", "one file", "512", "4096"}

// cut returns the files as a power cut may leave them, by name.
func (d *disk) cut(loss string, r *rand.Rand) map[string][]byte {
	names := maps.Clone(d.names)
	entries := len(d.entries)
	if loss != "nothing" {
		entries = r.IntN(entries + 1)
	}
	if loss == "all" {
		entries = 0
	}
	enter(names, d.entries[:entries])
	last := 1 << 60 // line behind which all is lost
	if loss == "the rest" {
		var begins []int
		for _, f := range d.files {
			for _, e := range f.pending {
				begins = append(begins, e.begin)
			}
		}
		if len(begins) > 0 {
			last = begins[r.IntN(len(begins))]
		}
	}
	whole := ""
	if loss == "one file" {
		whole = []string{"a.db", "a.db-wal"}[r.IntN(2)]
	}
	files := map[string][]byte{}
	for name, inode := range names {
		f := d.file(inode)
		data := bytes.Clone(f.data)
		for _, e := range f.pending {
			keeps := true
			switch loss {
			case "all":
				keeps = false
			case "the rest":
				keeps = e.begin < last
			case "some":
				keeps = r.IntN(2) == 0
			case "most":
				keeps = r.IntN(10) > 0
			case "one file":
				keeps = name == whole
			case "512", "4096":
				size, _ := strconv.Atoi(loss)
				data, keeps = e.torn(data, size, r), false
			}
			if keeps {
				data = e.applied(data)
			}
		}
		files[name] = data
	}
	return files
}

// torn does a part of a write: some sectors of it, and perhaps the new length of the file without the data.
func (e *diskEvent) torn(data []byte, sector int, r *rand.Rand) []byte {
	if e.call == "ftruncate" {
		if r.IntN(2) == 0 {
			data = e.applied(data)
		}
		return data
	}
	end := e.at + int64(len(e.data))
	odds := r.IntN(4) // of four sectors, so many are lost
	for at := e.at; at < end; {
		next := min(end, (at/int64(sector)+1)*int64(sector))
		if r.IntN(4) >= odds {
			part := diskEvent{call: e.call, data: e.data[at-e.at : next-e.at], at: at}
			data = part.applied(data)
		}
		at = next
	}
	if r.IntN(2) == 0 && int(end) > len(data) {
		data = resized(data, int(end))
	}
	return data
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
