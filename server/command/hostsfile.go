package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"minibus/config"
)

// The lines around what belongs to Minibus in a hosts file. Nothing else in the file is changed.
const (
	hostsBegin = "# begin of Minibus: minibus hosts --remove takes this out"
	hostsEnd   = "# end of Minibus"
)

// maxHosts bounds what is read: a hosts file that blocks advertisements has a few MiB.
const maxHosts = 64 << 20

// hostsEntry says where a host leads.
type hostsEntry struct {
	address, host string
}

func (e hostsEntry) String() string { return e.address + " " + e.host }

type hostsBlock []hostsEntry

func newHostsBlock(names []string, address string) (b hostsBlock) {
	for _, host := range names {
		b = append(b, hostsEntry{address, host})
	}
	return b
}

// String returns the block with the lines around it; nothing if it is empty.
func (b hostsBlock) String() string {
	if len(b) == 0 {
		return ""
	}
	text := hostsBegin + "\n"
	for _, e := range b {
		text += e.String() + "\n"
	}
	return text + hostsEnd + "\n"
}

// hostsFile is a hosts file, taken apart at Minibus's block.
type hostsFile struct {
	path          string // without symbolic links
	info          fs.FileInfo
	text          string // as it was read
	before, after string
	block         hostsBlock
}

// readHosts reads a hosts file. One that does not exist is empty.
func readHosts(path string) (*hostsFile, error) {
	f := &hostsFile{path: path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		f.path = target
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: it is no file: name a hosts file with --file", path)
	}
	if err == nil && info.Size() > maxHosts {
		return nil, fmt.Errorf("read %s: it has %d MiB, more than any hosts file", path, info.Size()>>20)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(f.path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the hosts file %s: %w", path, plain(err))
	}
	f.info, f.text = info, string(data)
	if err := f.split(); err != nil {
		return nil, fmt.Errorf("change %s: %w", path, err)
	}
	return f, nil
}

// split finds the block.
func (f *hostsFile) split() error {
	number, begin := 0, 0
	rest := &f.before
	for line := range strings.Lines(f.text) {
		number++
		word := strings.TrimSpace(line)
		switch {
		case word == hostsBegin && begin > 0:
			return fmt.Errorf("line %d begins a second block of Minibus: take one out", number)
		case word == hostsBegin:
			begin, rest = number, nil
		case rest != nil:
			*rest += line
		case word == hostsEnd:
			rest = &f.after
		default:
			f.block = append(f.block, hostsIn(line)...)
		}
	}
	if rest == nil {
		return fmt.Errorf("the block of Minibus begins in line %d and has no end: put the line %q after its last host", begin, hostsEnd)
	}
	return nil
}

// hostsIn returns what a line of a hosts file says.
func hostsIn(line string) (entries []hostsEntry) {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	for _, host := range fields[1:] {
		entries = append(entries, hostsEntry{fields[0], strings.ToLower(host)})
	}
	return entries
}

// add puts hosts into the block. A host that another line sends elsewhere is an error: systems take the first line.
func (f *hostsFile) add(names []string, address string) error {
	if err := f.conflict(f.before, 0, names, address); err != nil {
		return err
	}
	if err := f.conflict(f.after, countLines(f.text)-countLines(f.after), names, address); err != nil {
		return err
	}
	f.remove(names)
	f.block = append(f.block, newHostsBlock(names, address)...)
	slices.SortFunc(f.block, func(a, b hostsEntry) int { return strings.Compare(a.host, b.host) })
	return nil
}

// conflict looks for a line of the text, which begins after a number of lines, that gives one of the hosts another address.
func (f *hostsFile) conflict(text string, number int, names []string, address string) error {
	for line := range strings.Lines(text) {
		number++
		for _, e := range hostsIn(line) {
			if e.address != address && slices.Contains(names, e.host) {
				return fmt.Errorf("line %d gives %s the address %s: take that out first", number, e.host, e.address)
			}
		}
	}
	return nil
}

func countLines(text string) (n int) {
	for range strings.Lines(text) {
		n++
	}
	return n
}

// remove takes hosts out of the block, all if there are no names.
func (f *hostsFile) remove(names []string) {
	f.block = slices.DeleteFunc(f.block, func(e hostsEntry) bool { return names == nil || slices.Contains(names, e.host) })
}

// contents returns the file with the block as it is now, in the file's kind of lines.
func (f *hostsFile) contents() string {
	block := f.block.String()
	if block == "" {
		return f.before + f.after
	}
	newline := "\n"
	if strings.Contains(f.text, "\r\n") || f.text == "" && runtime.GOOS == "windows" {
		newline = "\r\n"
	}
	before := f.before
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += newline
	}
	return before + strings.ReplaceAll(block, "\n", newline) + f.after
}

// save replaces the file if it has to change, and reports whether it did. A reader finds the old file or the new one.
func (f *hostsFile) save(s config.Settings) (changed bool, err error) {
	text := f.contents()
	if text == f.text {
		return false, nil
	}
	err = f.replace(text)
	if errors.Is(err, syscall.EBUSY) { // a container's is a mount, which can't be replaced
		err = f.overwrite(text)
	}
	if err == nil {
		return true, nil
	}
	cure := "correct --file"
	if errors.Is(err, fs.ErrPermission) {
		cure = "run the command as root, such as with sudo"
		if runtime.GOOS == "windows" {
			cure = "run the command in a terminal of the administrator"
		}
	}
	if s.HostsFile == "" && !errors.Is(err, fs.ErrPermission) {
		cure = "name another hosts file with --file"
	}
	return false, fmt.Errorf("write the hosts file %s: %w; %s", f.path, plain(err), cure)
}

// replace writes a new file beside the old one and puts it in its place, with the same permissions and owner.
func (f *hostsFile) replace(text string) (err error) {
	half, err := os.CreateTemp(filepath.Dir(f.path), ".minibus-hosts-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(half.Name())
		}
	}()
	mode := fs.FileMode(0o644)
	if f.info != nil {
		mode = f.info.Mode().Perm()
	}
	_, err = half.WriteString(text)
	err = errors.Join(err, half.Chmod(mode), keepOwner(half, f.info), half.Sync(), half.Close())
	if err != nil {
		return err
	}
	return os.Rename(half.Name(), f.path)
}

// overwrite writes into the file itself.
func (f *hostsFile) overwrite(text string) error {
	file, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Truncate(int64(len(text)))
	}
	return errors.Join(err, file.Sync(), file.Close())
}
