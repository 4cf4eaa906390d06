package filter

import (
	"fmt"
	"strings"
	"testing"

	"minibus/internal/dotnet"
)

// fixedMessage answers like the adapter does: by name, without a map and without allocating.
type fixedMessage struct{ m *testMessage }

func (f *fixedMessage) User(name string) (Value, bool) { return f.m.User(name) }

func (f *fixedMessage) Exact(name string) (Value, bool) { return f.m.Exact(name) }

func (f *fixedMessage) System(p SystemProperty) Value {
	if p == Label {
		return String("Order")
	}
	return Null()
}

// commonForms are the filters that people write.
var commonForms = []string{
	TrueText,
	"color = 'blue'",
	"sys.Label = 'Order' AND quantity >= 10 AND NOT active = FALSE",
	"color IN ('red', 'green', 'blue') OR missing IS NULL",
	"note LIKE '50%' AND color LIKE '%l_e%' AND EXISTS(price)",
	"quantity * price + 1 > 20 AND d2 - d1 <= @t",
	"id = '" + guidText + "' OR p('color') = 'x' OR quantity IN (1, 2)",
}

// TestCommonFormsDoNotAllocate: evaluating a compiled filter does not allocate, nor do correlation
// filters, the index and the matching of names.
func TestCommonFormsDoNotAllocate(t *testing.T) {
	m := &fixedMessage{messageM()}
	m.m.user = append(m.m.user, userProp{"id", guidValue()})
	for _, text := range commonForms {
		f := parseFilter(t, text, map[string]Value{"t": TimeSpan(dotnet.Day)})
		if n := testing.AllocsPerRun(100, func() { _, _ = f.Eval(m) }); n != 0 {
			t.Errorf("%s allocates %v times", text, n)
		}
	}
	for _, text := range []string{"color = 'blue' AND quantity BETWEEN 1 AND 10", "active AND note LIKE '50%' OR JMSType IN ('a', 'Order')"} {
		s := parseSelector(t, text)
		if n := testing.AllocsPerRun(100, func() { s.Selects(m) }); n != 0 {
			t.Errorf("%s allocates %v times", text, n)
		}
	}
	c := correlation(t, map[SystemProperty]string{Label: "Order"}, map[string]Value{"quantity": Int64(10), "id": guidValue()})
	if n := testing.AllocsPerRun(100, func() { c.Match(m) }); n != 0 {
		t.Errorf("a correlation filter allocates %v times", n)
	}
	index := indexOf(t, 100)
	found := 0
	if n := testing.AllocsPerRun(100, func() { index.Candidates(m, func(int) bool { found++; return true }) }); n != 0 {
		t.Errorf("the index allocates %v times", n)
	}
	key := []byte(strings.Repeat("Name", 20))
	if n := testing.AllocsPerRun(100, func() { MatchName(key, "namename") }); n != 0 {
		t.Errorf("matching a name allocates %v times", n)
	}
}

// indexOf makes an index of rules of which only one matches the message of the test vectors.
func indexOf(t testing.TB, rules int) *Index[int] {
	var index Index[int]
	for i := range rules {
		index.Add(i, parseFilter(t, fmt.Sprintf("sys.Label = 'Order' AND quantity = %d AND color = 'blue'", i+10), nil))
	}
	return &index
}

func BenchmarkEval(b *testing.B) {
	m := &fixedMessage{messageM()}
	for _, text := range commonForms {
		f := parseFilter(b, text, map[string]Value{"t": TimeSpan(dotnet.Day)})
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = f.Eval(m)
			}
		})
	}
}

func BenchmarkCorrelation(b *testing.B) {
	m := &fixedMessage{messageM()}
	c := correlation(b, map[SystemProperty]string{Label: "Order"}, map[string]Value{"quantity": Int64(10)})
	b.ReportAllocs()
	for b.Loop() {
		c.Match(m)
	}
}

// BenchmarkIndex looks one message up among rules of which one matches.
func BenchmarkIndex(b *testing.B) {
	m := &fixedMessage{messageM()}
	for _, rules := range []int{1, 10, 100, 1000} {
		index := indexOf(b, rules)
		b.Run(fmt.Sprint(rules), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				index.Candidates(m, func(int) bool { return true })
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{TrueText, commonForms[2], strings.Repeat("color = 'blue' AND ", 50) + "a = 1"} {
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseFilter(text, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLikeWorstCase(b *testing.B) {
	text := strings.Repeat("a", 64<<10)
	p := compilePattern("%"+strings.Repeat("a", 500)+"_b%", 0, false)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		p.match(text)
	}
}
