package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"minibus/config"
	"minibus/internal/printable"
)

// output writes what a command found to standard output, in the format of --output.
type output struct {
	format  string
	text    io.Writer     // for people: nothing in it steers a terminal
	raw     *bufio.Writer // below it: for what the program chose itself
	data    io.Writer     // for bytes as they are; at a terminal the same as text
	colours bool
	width   int  // of the terminal; 0: it is none, or everything is to be shown
	people  bool // a person reads it at a terminal

	namespaceNow time.Time        // what the clock of the namespace says, once somebody asked
	askNow       func() time.Time // asks

	columns []string
	rows    [][]string
	listed  bool // a list has begun: an empty one is written too
	items   int  // json: how many were written
	live    bool // rows are written as they come, in columns of fixed width
	widths  []int
	shown   []int // live, on a terminal: the columns that fit
}

// The formats of --output.
const (
	formatTable = "table"
	formatWide  = "wide" // a table of everything
	formatJSON  = "json"
	formatLines = "jsonl"
)

var formats = []string{formatTable, formatWide, formatJSON, formatLines}

func newOutput(format string, plain bool, e Environment) output {
	raw := bufio.NewWriter(e.Stdout)
	o := output{format: format, text: printable.Screen(raw), raw: raw, data: raw, askNow: time.Now}
	if format == formatWide {
		o.format = formatTable
	}
	if terminal(e.Stdout) {
		o.data, o.colours = o.text, !plain && colourful(e)
		if o.people = o.format == formatTable; format == formatTable {
			o.width = terminalWidth(e.Stdout)
		}
	}
	return o
}

// terminalWidth returns how many columns the terminal has behind a stream; 0 if it is none.
func terminalWidth(stream any) int {
	if !terminal(stream) {
		return 0
	}
	if width, _, err := term.GetSize(int(stream.(*os.File).Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// colourful reports whether standard output is a terminal that shows colours (no-color.org).
func colourful(e Environment) bool {
	a := app{env: e}
	if a.variable("NO_COLOR") != "" || a.variable("TERM") == "dumb" || !terminal(e.Stdout) {
		return false
	}
	return runtime.GOOS != "windows" || a.variable("WT_SESSION") != "" // the old console of Windows shows the codes
}

// terminal reports whether a person reads or writes this stream.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// list begins a list with these columns.
func (o *output) list(columns ...string) { o.columns, o.listed = columns, true }

// stream begins a list that is written while it grows. Its columns have these widths; the last one is as wide as it
// is, and of a terminal gets what is left.
func (o *output) stream(columns []string, widths []int) {
	o.list(columns...)
	o.live, o.widths = true, widths
}

// add appends an item to the list: a line of JSON is written at once, a table at the end.
func (o *output) add(item any, row ...string) error {
	switch {
	case o.format == formatLines:
		return o.line(item)
	case o.format == formatJSON:
		return o.element(item)
	case o.live:
		if len(o.rows) == 0 {
			o.fitLive()
			o.writeLive(o.columns, true)
		}
		o.rows = [][]string{nil} // only whether there was one
		o.writeLive(row, false)
		return o.push()
	default:
		o.rows = append(o.rows, row)
	}
	return nil
}

func (o *output) writeLive(row []string, header bool) {
	var line strings.Builder
	put := func(cell string, width int) {
		line.WriteString(cell + strings.Repeat(" ", max(0, width-displaywidth.String(cell))+gap))
	}
	for k, i := range o.shown {
		cell, name := visible(row[i]), o.columns[i]
		if looks[name].show != nil && !header {
			cell = liveTime(cell)
		}
		put(shorten(strings.Join(strings.Fields(cell), " "), o.widths[k], looks[name].end), o.widths[k])
	}
	for i := 0; i < len(row) && o.shown == nil; i++ {
		width := 0
		if i < len(o.widths) {
			width = o.widths[i]
		}
		put(visible(row[i]), width)
	}
	o.header(strings.TrimRight(line.String(), " "), header)
}

func (o *output) header(line string, header bool) {
	if header {
		o.coloured("1", line)
	} else {
		o.write("%s", line)
	}
	o.write("\n")
}

// coloured writes text with a code of colour, if the terminal has colours.
func (o *output) coloured(code, text string) {
	if !o.colours || code == "" {
		o.write("%s", text)
		return
	}
	_, _ = o.raw.WriteString("\x1b[" + code + "m") // the writer keeps its error for push
	o.write("%s", text)
	_, _ = o.raw.WriteString("\x1b[0m")
}

// one writes a single thing: in a table, its pairs of name and value below each other.
func (o *output) one(item any, pairs ...[2]string) error {
	if o.format != formatTable {
		return o.document(item)
	}
	width := 0
	for _, p := range pairs {
		width = max(width, displaywidth.String(visible(p[0])))
	}
	for _, p := range pairs {
		name, value := visible(p[0]), visible(p[1])
		if o.people {
			value = o.explained(name, value)
		}
		pad := strings.Repeat(" ", width-displaywidth.String(name)+gap)
		o.write("%s\n", strings.TrimRight(name+pad+value, " "))
	}
	return o.push()
}

// done reports what a command did: a sentence in a table's place, else a document.
func (o *output) done(item any, format string, args ...any) error {
	if o.format != formatTable {
		return o.document(item)
	}
	o.write("%s\n", fit(visible(fmt.Sprintf(format, args...)), o.width))
	return o.push()
}

// write writes text for people that is not a list.
func (o *output) write(format string, args ...any) { _, _ = fmt.Fprintf(o.text, format, args...) }

// element writes an item of the array, at once, so that what was written is never taken for lost.
func (o *output) element(item any) error {
	data, err := encode(item, "  ")
	if err != nil {
		return err
	}
	data = bytes.ReplaceAll(bytes.TrimSpace(data), []byte("\n"), []byte("\n  ")) // strings have no line ends
	separator := ",\n  "
	if o.items == 0 {
		separator = "[\n  "
	}
	o.items++
	_, _ = o.raw.WriteString(separator)
	_, _ = o.raw.Write(data)
	return o.push()
}

// document writes one JSON document, on one line for jsonl.
func (o *output) document(item any) error {
	if o.format == formatLines {
		return o.line(item)
	}
	data, err := encode(item, "  ")
	if err != nil {
		return err
	}
	_, _ = o.raw.Write(data)
	return o.push()
}

func (o *output) line(item any) error {
	data, err := encode(item, "")
	if err != nil {
		return err
	}
	_, _ = o.raw.Write(data)
	return o.push()
}

func encode(item any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(item); err != nil {
		return nil, fmt.Errorf("write as JSON: %w", err)
	}
	return escaped(b.Bytes()), nil
}

// escaped writes what would steer a terminal as JSON can: \u009b. Only texts and names have such characters.
func escaped(text []byte) []byte {
	if bytes.IndexFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII && !printable.Plain(r) || r == 0x7f || r == utf8.RuneError
	}) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) { // bytes that are not UTF-8 become U+FFFD
		switch {
		case r < 0x7f || printable.Plain(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// push writes what is buffered.
func (o *output) push() error {
	if err := o.raw.Flush(); err != nil {
		return &failure{code: exitFailed, text: fmt.Sprintf("write to standard output: %v", unwrapped(err))}
	}
	return nil
}

func unwrapped(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// flush writes the list at the end of the command.
func (o *output) flush() error {
	if o.raw == nil || !o.listed {
		return nil
	}
	o.listed = false
	switch {
	case o.format == formatJSON && o.items == 0:
		_, _ = fmt.Fprintln(o.raw, "[]")
	case o.format == formatJSON:
		_, _ = fmt.Fprintln(o.raw, "\n]")
	case o.format == formatTable && !o.live && len(o.rows) > 0:
		o.table()
	}
	return o.push()
}

// table writes the rows in columns as wide as they need, or as the terminal lets them. Columns with numbers are
// aligned at the right.
func (o *output) table() {
	columns, rows := o.columns, o.rows
	if o.width > 0 {
		columns, rows = o.fitted()
	}
	right := make([]bool, len(columns))
	for i := range right {
		right[i] = true
	}
	for _, row := range rows {
		for i := range row {
			row[i] = visible(row[i])
			right[i] = right[i] && strings.Trim(row[i], "0123456789-.,") == "" && row[i] != ""
		}
	}
	widths := naturalWidths(columns, rows)
	for at, row := range append([][]string{columns}, rows...) {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-displaywidth.String(cell))
			if right[i] || looks[columns[i]].right && o.width > 0 {
				line.WriteString(pad)
				pad = ""
			}
			if code := colourOf(columns[i], cell); o.colours && code != "" && at > 0 {
				// The line goes through text, which would take the codes for those of a message.
				o.write("%s", line.String())
				o.coloured(code, cell)
				line.Reset()
			} else {
				line.WriteString(cell)
			}
			if i < len(row)-1 {
				line.WriteString(pad + strings.Repeat(" ", gap))
			}
		}
		o.header(strings.TrimRight(line.String(), " "), at == 0)
	}
}

// visible replaces control characters, with which a message could write anything on a terminal.
func visible(s string) string { return printable.Line(s) }

// note writes a line for the user, not for the next program, to standard error.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintln(a.env.Stderr, Fit(a.env.Stderr, visible(fmt.Sprintf(format, args...))))
}

// asksFirst is a sentence in the help of commands that confirm.
const asksFirst = "It asks first if a person is at the terminal."

// yesFlag gives a command the flag by which it does not ask.
func yesFlag(c *cobra.Command) *bool { return c.Flags().BoolP("yes", "y", false, "don't ask") }

// confirm asks a person before something is lost. Nobody is asked if a program runs the command or --yes is given.
func (a *app) confirm(yes bool, format string, args ...any) error {
	if yes || !terminal(a.env.Stdin) || !terminal(a.env.Stderr) {
		return nil
	}
	_, _ = fmt.Fprint(a.env.Stderr, Fit(a.env.Stderr, visible(fmt.Sprintf(format, args...))+" [y/N]")+" ")
	answer, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return failed(exitFailed, "left as it is")
}

// progress shows on a terminal how far a long work is. It writes to standard error, and nothing if that is no terminal.
type progress struct {
	app   *app
	what  string
	total int // 0: not known
	last  time.Time
	wrote bool
}

func (a *app) progress(what string, total int) *progress {
	return &progress{app: a, what: what, total: total}
}

// step shows the number, a few times a second at most.
func (p *progress) step(n int) {
	if !terminal(p.app.env.Stderr) || time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.wrote = time.Now(), true
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %s (%d %%)", config.Thousands(p.total), n*100/p.total)
	}
	_, _ = fmt.Fprintf(p.app.env.Stderr, "\r%s %s%s\x1b[K", p.what, config.Thousands(n), of)
}

// end takes the line away.
func (p *progress) end() {
	if p != nil && p.wrote {
		_, _ = fmt.Fprint(p.app.env.Stderr, "\r\x1b[K")
	}
}
