package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"minibus/config"
)

// look says how a terminal shows a column.
type look struct {
	show  func(o *output, cell string) string // nil: as it is
	least int                                 // how narrow it may become; 0: it is never cut
	end   bool                                // cut at its end instead of in the middle
	rank  int                                 // the column with the highest one is left out first; 0: it never is
	spare bool                                // left out if nothing but zeros is in it
	right bool
}

// looks are those of the columns, by name. Others are shown as they are, and never cut.
var looks = map[string]look{
	"ACTION": {least: 10, end: true}, "ACTIVE": {show: count}, "ADDRESS": {least: 20}, "AFTER": {right: true},
	"ALIASES": {least: 10, end: true, rank: 5}, "BODY": {least: 16, end: true},
	"BYTES": {show: bytesText, rank: 6, right: true}, "CLIENT": {least: 10, rank: 4}, "CLOCK": {least: 10, rank: 5},
	"CONDITION": {least: 12, end: true}, "CONNECTION": {rank: 6}, "CONTAINER": {least: 10, end: true, rank: 7},
	"COUNT": {show: count}, "CREATED": {show: (*output).since, rank: 4}, "CREDIT": {show: count},
	"DATA FILE":   {least: 16, rank: 3},
	"DEAD-LETTER": {show: count}, "DEAD-LETTERS": {show: count}, "DEFERRED": {show: count},
	"DELIVERIES": {show: count, rank: 5}, "DESCRIPTION OF THE NEWEST": {least: 16, end: true},
	"DUE":      {show: (*output).time, rank: 1},
	"ENQUEUED": {show: (*output).time, rank: 1}, "ENTITIES": {show: count}, "ENTITY": {least: 16},
	"HITS": {show: count}, "HOLDER": {least: 10, rank: 4}, "ID": {least: 14},
	"KIND": {least: 10, end: true}, "LIMITS": {rank: 6},
	"LOCKED": {show: count}, "LOCKED-BY": {least: 8, end: true, rank: 3}, "LOCKED-UNTIL": {show: (*output).time},
	"MESSAGES": {show: count}, "MODE": {rank: 5}, "NAME": {least: 24}, "NAMESPACES": {least: 12, end: true, rank: 4},
	"NEWEST": {show: (*output).time, rank: 4}, "OLDEST": {show: (*output).time, rank: 5},
	"OPERATIONS": {least: 10, end: true, rank: 5}, "PID": {rank: 6},
	"REASON": {least: 10, end: true}, "RECEIVES": {least: 12}, "REMOTE": {rank: 5}, "SAVED": {show: (*output).since},
	"SCHEDULED": {show: count}, "SDK": {least: 10, end: true, rank: 4}, "SENDS": {least: 12},
	"SELECTOR": {least: 10, end: true, rank: 3},
	"SESSION":  {least: 10, rank: 2}, "SINCE": {show: (*output).since}, "SUBJECT": {least: 8, end: true, rank: 4},
	"SUBSCRIPTIONS": {show: count}, "TEXT": {least: 20, end: true}, "TIME": {show: (*output).since},
	"TRANSFER": {show: count, rank: 9, spare: true}, "TRANSFER-DLQ": {show: count, rank: 8, spare: true},
	"TRANSPORT": {rank: 6}, "UNSETTLED": {show: count}, "UNTIL": {show: (*output).time},
	"VERSION": {rank: 5}, "WAITS FOR": {least: 12, end: true}, "WHAT": {rank: 4}, "WINDOW": {rank: 7},
}

// gap is between two columns.
const gap = 2

// fitted makes the columns of a table fit a terminal. Empty columns are left out. While the table is too wide its
// widest texts are cut, and then the least important column goes. The rows are those of the columns that it returns.
func (o *output) fitted() (columns []string, rows [][]string) {
	columns = o.columns
	rows = make([][]string, len(o.rows))
	for i := range o.rows {
		rows[i] = slices.Clone(o.rows[i])
	}
	drop := func(at int) {
		columns = slices.Delete(slices.Clone(columns), at, at+1)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], at, at+1)
		}
	}
	for at := len(columns) - 1; at > 0; at-- {
		empty := func(row []string) bool { return row[at] == "" || looks[columns[at]].spare && row[at] == "0" }
		if !slices.ContainsFunc(rows, func(row []string) bool { return !empty(row) }) {
			drop(at)
		}
	}
	for _, row := range rows {
		for i, name := range columns {
			row[i] = visible(row[i])
			if looks[name].end {
				row[i] = strings.Join(strings.Fields(row[i]), " ")
			}
			if show := looks[name].show; show != nil {
				row[i] = show(o, row[i])
			}
		}
	}
	var widths []int
	for _, comfort := range []bool{true, false} {
		for widths = naturalWidths(columns, rows); !narrowed(widths, columns, o.width, comfort); {
			least := leastOf(columns, comfort)
			if least == 0 {
				break // at last the terminal is too narrow for what matters
			}
			drop(least)
			widths = naturalWidths(columns, rows)
		}
	}
	for _, row := range rows {
		for i := range row {
			row[i] = shorten(row[i], widths[i], looks[columns[i]].end)
		}
	}
	return columns, rows
}

// minor is the least rank of a column that goes before others get uncomfortably narrow.
const minor = 4

// leastOf returns the least important of some columns; 0 if all of them matter. The first one always does. For the
// comfort of others only a minor one goes.
func leastOf(columns []string, comfort bool) (least int) {
	rank := 0
	if comfort {
		rank = minor - 1
	}
	for i := 1; i < len(columns); i++ {
		if r := looks[columns[i]].rank; r > rank {
			least, rank = i, r
		}
	}
	return least
}

// liveBody is the least width of the last column of a list that grows.
const liveBody = 20

// fitLive makes the columns of a list that grows fit the terminal, before its first row. The last one gets what is
// left.
func (o *output) fitLive() {
	if o.width == 0 {
		return
	}
	names, natural := slices.Clone(o.columns), append(slices.Clone(o.widths), liveBody)
	for i, name := range names {
		if looks[name].show != nil && natural[i] > len(time.DateTime) {
			natural[i] = max(len(name), len(time.TimeOnly))
		}
		o.shown = append(o.shown, i)
	}
	for {
		o.widths = slices.Clone(natural)
		least := leastOf(names, false)
		if narrowed(o.widths, names, o.width, false) || least == 0 {
			break
		}
		names, natural = slices.Delete(names, least, least+1), slices.Delete(natural, least, least+1)
		o.shown = slices.Delete(o.shown, least, least+1)
	}
	left := o.width - gap*(len(o.widths)-1)
	for _, w := range o.widths[:len(o.widths)-1] {
		left -= w
	}
	o.widths[len(o.widths)-1] = max(left, liveBody)
}

func naturalWidths(columns []string, rows [][]string) []int {
	widths := make([]int, len(columns))
	for i, name := range columns {
		widths[i] = len(name)
		for _, row := range rows {
			widths[i] = max(widths[i], cells(row[i]))
		}
	}
	return widths
}

// narrowed takes from the widest columns until all of them fit, and reports whether they do. With comfort no text
// becomes so short that it says little.
func narrowed(widths []int, columns []string, most int, comfort bool) bool {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > most; total-- {
		widest := -1
		for i, w := range widths {
			l := looks[columns[i]]
			least := max(l.least, len(columns[i]))
			switch {
			case comfort && l.end:
				least *= 2
			case comfort:
				least += least / 4
			}
			if l.least > 0 && w > least && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
	}
	return true
}

// cells is how many columns a text takes at most: some terminals show each part of an emoji by itself.
func cells(text string) (n int) {
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		parts := 0
		for _, r := range g.Value() {
			parts += displaywidth.Rune(r)
		}
		n += max(g.Width(), parts)
	}
	return n
}

// shorten cuts a text to a width on the screen, with dots in its middle or at its end.
func shorten(text string, width int, end bool) string {
	if cells(text) <= width {
		return text
	}
	var parts []string
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		parts = append(parts, g.Value())
	}
	tail := (width - 1) / 2
	if end || width < 4 {
		tail = 0
	}
	begin, rest := "", ""
	for i := 0; i < len(parts) && cells(begin+parts[i]) < width-tail; i++ {
		begin += parts[i]
	}
	for i := len(parts) - 1; i >= 0 && cells(parts[i]+rest) <= tail; i-- {
		rest = parts[i] + rest
	}
	return begin + "…" + rest
}

// hanging writes a text that begins at a column. On a terminal its further lines begin there too.
func (o *output) hanging(column int, text string) {
	text = visible(text)
	if lines := wrapped(text, o.width-column); o.width > column+liveBody && len(lines) > 1 {
		text = strings.Join(lines, "\n"+strings.Repeat(" ", column))
	}
	o.write("%s\n", text)
}

// Fit breaks the lines of a text for people between words, where they are wider than the terminal that they go to.
// What goes elsewhere stays as it is.
func Fit(stream any, text string) string { return fit(text, terminalWidth(stream)) }

// fit breaks the lines of a text at a width; 0 is none. What follows on a line is indented below it.
func fit(text string, width int) string {
	if width <= liveBody {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if displaywidth.String(line) <= width {
			lines = append(lines, line)
			continue
		}
		indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " ")))
		parts := wrapped(line, width-len(indent)-gap)
		lines = append(lines, indent+strings.Join(parts, "\n"+indent+strings.Repeat(" ", gap)))
	}
	return strings.Join(lines, "\n")
}

// stateColours are those of the words in a column.
var stateColours = map[string]string{
	"active": "32", "locked": "33", "deferred": "36", "scheduled": "34", "Active": "32", "open": "32", "busy": "33",
	"ending": "33", "Disabled": "31", "SendDisabled": "33", "ReceiveDisabled": "33", "spent": "2", "over": "2",
	"removed": "2",
}

// colourOf returns the code of colour of a cell; empty for none.
func colourOf(column, cell string) string {
	switch column {
	case "STATE", "STATUS":
		return stateColours[cell]
	case "DEAD-LETTER", "DEAD-LETTERS":
		if cell != "0" && cell != "" {
			return "31"
		}
	}
	return ""
}

// count writes a number with commas at the thousands.
func count(_ *output, cell string) string {
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil || n < 0 {
		return cell
	}
	return config.Thousands(n)
}

// bytesText writes a number of bytes in the unit that fits.
func bytesText(_ *output, cell string) string {
	n, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; n >= 1000 && i < len(units)-1; i++ {
		n /= 1024
	}
	decimals := 0
	if i > 0 && n < 10 {
		decimals = 1
	}
	return strconv.FormatFloat(n, 'f', decimals, 64) + " " + units[i]
}

// time writes an instant of the namespace's clock relative to what that says.
func (o *output) time(cell string) string {
	if o.namespaceNow.IsZero() && cell != "" {
		o.namespaceNow = o.askNow()
	}
	return relative(cell, o.namespaceNow)
}

// since writes an instant of the machine's clock relative to now.
func (o *output) since(cell string) string { return relative(cell, time.Now()) }

// relative says how long ago an instant was, or when it comes. A text that is none stays.
func relative(text string, now time.Time) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	d := now.Sub(t)
	apart := d.Abs()
	const day = 24 * time.Hour
	var amount string
	switch {
	case apart < time.Second:
		return "now"
	case apart < time.Minute:
		amount = strconv.Itoa(int(apart/time.Second)) + " s"
	case apart < time.Hour:
		amount = strconv.Itoa(int(apart/time.Minute)) + " min"
	case apart < 2*day:
		amount = strconv.Itoa(int(apart/time.Hour)) + " h"
	case apart < 100*day:
		amount = strconv.Itoa(int(apart/day)) + " days"
	default:
		return t.Local().Format(time.DateOnly)
	}
	if d < 0 {
		return "in " + amount
	}
	return amount + " ago"
}

// pairTimes are the names of instants of a single thing. Those of true follow the clock of the namespace.
var pairTimes = map[string]bool{"enqueued": true, "scheduled-for": true, "expires": true, "locked-until": true,
	"state-updated": true, "created": false, "updated": false, "accessed": false, "since": false}

// explained adds to an instant how long ago it was, and writes the longest duration as a word.
func (o *output) explained(name, value string) string {
	follows, isTime := pairTimes[name]
	switch {
	case strings.HasPrefix(value, endless):
		return "forever"
	case isTime && value != "" && follows:
		return value + "  (" + o.time(value) + ")"
	case isTime && value != "":
		return value + "  (" + o.since(value) + ")"
	}
	if thousands[name] {
		return count(o, value)
	}
	if name == "bytes" || name == "size" || name == "body-bytes" {
		return bytesText(o, value)
	}
	return value
}

// endless begins the longest duration, as the service writes it.
const endless = "P10675199DT"

// thousands are the names of numbers of messages.
var thousands = map[string]bool{"active": true, "dead-letter": true, "scheduled": true, "transfer": true,
	"locked": true, "deferred": true, "transfer dead-letter": true}

// liveTime writes an instant of a list that grows: the time of the day, in local time.
func liveTime(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return t.Local().Format(time.TimeOnly)
}
