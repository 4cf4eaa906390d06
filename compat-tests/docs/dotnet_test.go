package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const dotnetPage = "docs/dotnet.md"

var csharp = regexp.MustCompile("(?ms)^```csharp\n(.*?)^```$")

// notCompiled are the first lines of examples in the READMEs of the packages that no project compiles.
var notCompiled = []string{
	`public abstract class WithBus : IAsyncLifetime // Task instead of ValueTask in xUnit v2`,
	`await using var app = new WebApplicationFactory<Program>().WithWebHostBuilder(builder =>`,
	`var time = new FakeTimeProvider(DateTimeOffset.UtcNow);`,
	`await bus.Snapshots.SaveAsync("seeded");`,
	`builder.AddAzureServiceBus("messaging").RunAsEmulator(emulator => emulator.UseMinibus("minibus", "latest"));`,
}

// TestTheExamplesForDotNet compares the programs of docs/dotnet.md with the sources of the packages and of the
// suite, which are compiled: each is a part of one of them, or the page says above it that it is not tested. A
// program of the page that is in a README is there word for word.
func TestTheExamplesForDotNet(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	compiled := files(t, root, ".cs", "packaging/dotnet/tests", "compat-tests/dotnet")
	readmes := files(t, root, ".md", "packaging/dotnet")
	page := harness.ReadPage(t, dotnetPage)
	shared := 0
	for _, at := range csharp.FindAllStringSubmatchIndex(page, -1) {
		example, above := bare(page[at[2]:at[3]]), strings.TrimSpace(page[:at[0]])
		above = above[strings.LastIndex(above, "\n\n")+1:]
		if in(example, readmes) {
			shared++
		}
		if !in(example, compiled) && !strings.Contains(above, "Not tested") {
			t.Errorf("nothing compiles this program, and the page does not say \"Not tested\" above it:\n%s", example)
		}
	}
	if shared < 6 {
		t.Errorf("%d programs of the page are in the READMEs of the packages", shared)
	}
	for _, readme := range readmes {
		for _, found := range csharp.FindAllStringSubmatch(readme, -1) {
			example := bare(found[1])
			first, _, _ := strings.Cut(example, "\n")
			known := false
			for _, line := range notCompiled {
				known = known || line == first
			}
			if !known && !in(example, compiled) {
				t.Errorf("nothing compiles this program of a README:\n%s", example)
			}
		}
	}
}

// files reads the files with this ending below directories of the repository.
func files(t *testing.T, root, ending string, dirs ...string) (texts []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ending {
				return err
			}
			text, err := os.ReadFile(path)
			texts = append(texts, string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// bare is a text without blank lines and indentation.
func bare(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func in(example string, texts []string) bool {
	for _, text := range texts {
		if strings.Contains("\n"+bare(text)+"\n", "\n"+example+"\n") {
			return true
		}
	}
	return false
}
