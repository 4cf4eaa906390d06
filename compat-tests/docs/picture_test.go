package docs

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// update writes the picture anew: MINIBUS_COMPAT=all go test ./compat-tests/docs -run Picture -update
var update = flag.Bool("update", false, "write docs/images/session.svg anew from a real run")

const picture = "docs/images/session.svg"

// The measures of the picture, in pixels; columns in characters.
const (
	columns    = 100
	charWidth  = 8.45 // of the widest usual fonts at this size
	lineHeight = 20
	margin     = 16
)

const style = `
  .paper { fill: #f6f8fa; stroke: #d0d7de }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
  .command { font-weight: bold }
  .prompt { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3 }
    .prompt { fill: #3fb950 }
  }
`

// draw makes the picture, which follows the reader's choice of light or dark. Nothing moves: many viewers show the first moment only.
func draw(list []entry) string {
	var body strings.Builder
	line := 0
	write := func(class, prompt, text string) {
		for rest := prompt + text; ; {
			part := rest[:min(columns, len(rest))]
			rest = rest[len(part):]
			y := margin + lineHeight*line + 15
			line++
			fmt.Fprintf(&body, "  <text class=%q x=\"%d\" y=\"%d\">", class, margin, y)
			if prompt != "" {
				fmt.Fprintf(&body, "<tspan class=\"prompt\">%s</tspan>", prompt)
				part, prompt = strings.TrimPrefix(part, prompt), ""
			}
			body.WriteString(escaped(part) + "</text>\n")
			if rest == "" {
				return
			}
		}
	}
	for _, e := range list {
		write("command", "$ ", e.command)
		for _, text := range e.output {
			write("output", "", text)
		}
	}
	width, height := int(columns*charWidth)+2*margin, line*lineHeight+2*margin
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%[1]d\" height=\"%[2]d\" viewBox=\"0 0 %[1]d %[2]d\">\n"+
		"  <title>Minibus starts, takes a message, is killed, starts again, and still has it</title>\n"+
		"  <style>%[3]s  </style>\n  <rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"%[4]d\" height=\"%[5]d\" rx=\"6\"/>\n%[6]s</svg>\n",
		width, height, style, width-1, height-1, body.String())
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

// TestThePictureIsReal runs the session of the picture and wants that the picture shows what happened.
func TestThePictureIsReal(t *testing.T) {
	harness.NeedAll(t, "to run the session of the picture, which has Python")
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	list := record(t)
	for i, want := range []string{"Emulator Service is Successfully Up!", "", "", "", "hello", "received: hello"} {
		if out := strings.Join(list[i].output, "\n"); !strings.HasSuffix(out, want) || want == "" && out != "" {
			t.Errorf("%s prints %q, want %q at its end", list[i].command, out, want)
		}
	}
	drawn := draw(list)
	if *update {
		if err := harness.WriteFiles(root, map[string]string{picture: drawn}); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile(filepath.Join(root, picture)); err != nil || string(stored) != drawn {
		t.Errorf("%s (%v) is not what happens now; run this test with -update and look at the picture:\n%s", picture, err, drawn)
	}
}
