package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

var (
	linkPattern    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	fencePattern   = regexp.MustCompile("(?ms)^```.*?^```$")
	inlinePattern  = regexp.MustCompile("`[^`\n]*`")
	anchorPattern  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	flagPattern    = regexp.MustCompile(`--[a-z][A-Za-z-]+`)
)

// pages makes the root of the repository the working directory of the test, and returns the pages below it by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	all := make(map[string]string)
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git" || entry.Name() == "target" || entry.Name() == "dist"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 15 {
		t.Fatalf("found %d pages", len(all))
	}
	return all
}

// prose is a page without its blocks of code and its words in code.
func prose(page string) string {
	return inlinePattern.ReplaceAllString(fencePattern.ReplaceAllString(page, ""), "`code`")
}

// anchors returns those of a page's headings, as the usual renderers make them, and those that it names itself.
func anchors(page string) map[string]bool {
	all := make(map[string]bool)
	page = fencePattern.ReplaceAllString(page, "")
	for _, found := range headingPattern.FindAllStringSubmatch(page, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(found[1])) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f:
				b.WriteRune(r)
			}
		}
		all[b.String()] = true
	}
	for _, found := range anchorPattern.FindAllStringSubmatch(page, -1) {
		all[found[1]] = true
	}
	return all
}

// TestEveryLinkLeadsSomewhere follows the relative links of all pages, and of llms.txt, to files and to headings in them.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	all := pages(t)
	text, err := os.ReadFile("llms.txt")
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]string{"llms.txt": string(text)}
	for name, page := range all {
		from[name] = page
	}
	headings := make(map[string]map[string]bool)
	for name, page := range all {
		headings[name] = anchors(page)
	}
	links := 0
	for name, page := range from {
		for _, found := range linkPattern.FindAllStringSubmatch(prose(page), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, found[1])
			} else if known, page := headings[file]; anchor != "" && page && !known[anchor] {
				t.Errorf("%s: the link %s leads to no heading", name, found[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links", links)
	}
}

// TestAnchors pins how a heading becomes an anchor.
func TestAnchors(t *testing.T) {
	all := anchors("# One, two: three\n\n```sh\n# no heading\n```\n## .NET & `$management`\n<a id=\"own\"></a>\n")
	for anchor, want := range map[string]bool{"one-two-three": true, "net--management": true, "own": true, "no-heading": false} {
		if all[anchor] != want {
			t.Errorf("%s: want %v in %v", anchor, want, all)
		}
	}
}

// TestEveryPageIsInTheIndexes wants each page of docs, and those that users need elsewhere, in llms.txt and in README.md or docs/README.md.
func TestEveryPageIsInTheIndexes(t *testing.T) {
	all := pages(t)
	text, err := os.ReadFile("llms.txt")
	if err != nil {
		t.Fatal(err)
	}
	human := make(map[string]bool)
	for _, index := range []string{"README.md", "docs/README.md"} {
		for _, found := range linkPattern.FindAllStringSubmatch(all[index], -1) {
			target, _, _ := strings.Cut(found[1], "#")
			human[path.Join(path.Dir(index), target)] = true
		}
	}
	for name := range all {
		if path.Dir(name) != "docs" && path.Dir(name) != "docker" && path.Dir(name) != "." || name == "docs/README.md" || name == "README.md" {
			continue
		}
		if !human[name] {
			t.Errorf("%s is in neither README.md nor docs/README.md", name)
		}
		if line := regexp.MustCompile(`(?m)^- \[[^\]]+\]\(` + regexp.QuoteMeta(name) + `\): .+$`); !line.Match(text) {
			t.Errorf("llms.txt has no line `- [title](%s): what it says`", name)
		}
	}
}

// others are flags of other programs on the pages.
var others = strings.Fields(`--authenticate --batch-mode --build --cap-drop --cask --check --clean --data-binary --filter --globals --ignore-missing
	--minibus-config --minibus-seed --name --now --quiet --read-only --retry --retry-all-errors --retry-delay --rm --run --save-dev --snapshot --test --user --version
	--parameters --template-file`)

// commandPattern is a line of a help that begins with a command, such as "  minibus config check [FILE]   check a Config.json".
// Further ones may follow the second word: "  minibus config print|diff|apply".
var commandPattern = regexp.MustCompile(`(?m)^  (?:minibus )?([a-z]+(?: [a-z]+\b)?)((?:\|[a-z]+)*)`)

// helps adds the flags in the help of every command that a help names.
func helps(t *testing.T, flags map[string]bool) {
	t.Helper()
	asked, seen := make(map[string]bool), make(map[string]bool)
	var walk func(words ...string)
	walk = func(words ...string) {
		if asked[strings.Join(words, " ")] {
			return
		}
		asked[strings.Join(words, " ")] = true
		out, err := exec.Command(harness.Binary(t), append(words, "--help")...).CombinedOutput()
		if err != nil || seen[string(out)] {
			return // not a command, or one that ignores the last word
		}
		seen[string(out)] = true
		for _, flag := range flagPattern.FindAllString(string(out), -1) {
			flags[flag] = true
		}
		for _, found := range commandPattern.FindAllStringSubmatch(string(out), -1) {
			below := strings.Fields(found[1])
			walk(below...)
			walk(below[0])
			for other := range strings.SplitSeq(strings.TrimPrefix(found[2], "|"), "|") {
				if other != "" {
					walk(below[0], other)
				}
			}
			if len(words) == 1 {
				walk(words[0], below[0])
			}
		}
	}
	walk()
	if len(seen) < 5 {
		t.Fatalf("found the help of %d commands", len(seen))
	}
}

// azCommand is a command of az, which has a page of its own for its flags: in a block, with the lines that it goes on in, or in a sentence.
var azCommand = regexp.MustCompile("(?m)(?:^ *|`|\\$\\()az (?:[^`\n\\\\]|\\\\[^`])*")

// TestEveryFlagExists wants that a flag in the pages is one of Minibus's, which its help prints, or known to be another program's.
func TestEveryFlagExists(t *testing.T) {
	known := make(map[string]bool)
	for _, flag := range others {
		known[flag] = true
	}
	helps(t, known)
	for name, page := range pages(t) {
		if path.Dir(name) != "docs" && path.Dir(name) != "docker" && name != "README.md" {
			continue
		}
		for _, flag := range flagPattern.FindAllString(azCommand.ReplaceAllString(page, ""), -1) {
			if !known[flag] {
				t.Errorf("%s: there is no flag %s", name, flag)
			}
		}
	}
}
