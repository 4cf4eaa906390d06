package amqp_test

import (
	"errors"
	"testing"

	"minibus/internal/amqp"
)

func reader(t *testing.T, s string) *amqp.Reader {
	r := amqp.NewReader(unhex(t, s))
	return &r
}

func TestReader_IntegersOfEveryWidthAndSign(t *testing.T) {
	for _, c := range []struct {
		hex string
		i   int64
		u   uint64
		err bool // as unsigned
	}{
		{"43", 0, 0, false}, {"44", 0, 0, false}, {"50 07", 7, 7, false}, {"52 ff", 255, 255, false}, {"53 ff", 255, 255, false},
		{"60 0102", 258, 258, false}, {"70 00000009", 9, 9, false}, {"80 0000000000000009", 9, 9, false},
		{"51 ff", -1, 0, true}, {"54 ff", -1, 0, true}, {"55 05", 5, 5, false}, {"61 fffe", -2, 0, true},
		{"71 00000009", 9, 9, false}, {"81 ffffffffffffffff", -1, 0, true}, {"83 0000000000000009", 9, 9, false},
	} {
		if v, ok, err := reader(t, c.hex).Int64(); v != c.i || !ok || err != nil {
			t.Errorf("%s as int64: %v %v %v", c.hex, v, ok, err)
		}
		v, ok, err := reader(t, c.hex).Uint64()
		if c.err {
			if !errors.Is(err, amqp.ErrRange) {
				t.Errorf("%s as uint64: %v", c.hex, err)
			}
		} else if v != c.u || !ok || err != nil {
			t.Errorf("%s as uint64: %v %v %v", c.hex, v, ok, err)
		} else if v, ok, err := reader(t, c.hex).Uint32(); v != uint32(c.u) || !ok || err != nil {
			t.Errorf("%s as uint32: %v %v %v", c.hex, v, ok, err)
		}
	}
	if _, _, err := reader(t, "80 ffffffffffffffff").Int64(); !errors.Is(err, amqp.ErrRange) {
		t.Errorf("largest ulong as int64: %v", err)
	}
	if _, _, err := reader(t, "80 0000000100000000").Uint32(); !errors.Is(err, amqp.ErrRange) {
		t.Errorf("2^32 as uint32: %v", err)
	}
}

func TestReader_Bool(t *testing.T) {
	for s, want := range map[string]bool{"41": true, "42": false, "56 01": true, "56 00": false} {
		if v, ok, err := reader(t, s).Bool(); v != want || !ok || err != nil {
			t.Errorf("%s: %v %v %v", s, v, ok, err)
		}
	}
	if _, _, err := reader(t, "56 02").Bool(); err == nil {
		t.Error("boolean of 2")
	}
}

func TestReader_NullWrongTypeAndEnd(t *testing.T) {
	reads := map[string]func(r *amqp.Reader) (bool, error){
		"Uint64":    func(r *amqp.Reader) (bool, error) { _, ok, err := r.Uint64(); return ok, err },
		"Int64":     func(r *amqp.Reader) (bool, error) { _, ok, err := r.Int64(); return ok, err },
		"Uint32":    func(r *amqp.Reader) (bool, error) { _, ok, err := r.Uint32(); return ok, err },
		"Timestamp": func(r *amqp.Reader) (bool, error) { _, ok, err := r.Timestamp(); return ok, err },
		"Bool":      func(r *amqp.Reader) (bool, error) { _, ok, err := r.Bool(); return ok, err },
		"Bytes":     func(r *amqp.Reader) (bool, error) { _, ok, err := r.Bytes(); return ok, err },
		"Text":      func(r *amqp.Reader) (bool, error) { _, ok, err := r.Text(); return ok, err },
		"UUID":      func(r *amqp.Reader) (bool, error) { _, ok, err := r.UUID(); return ok, err },
	}
	for name, read := range reads {
		r := reader(t, "40")
		if ok, err := read(r); ok || err != nil || r.Len() != 0 {
			t.Errorf("%s of null: %v %v, %d left", name, ok, err, r.Len())
		}
		if _, err := read(reader(t, "")); !errors.Is(err, amqp.ErrTruncated) {
			t.Errorf("%s at the end: %v", name, err)
		}
		if _, err := read(reader(t, "72 00000000")); !errors.Is(err, amqp.ErrWrongType) {
			t.Errorf("%s of a float: %v", name, err)
		}
	}
	for _, cut := range []string{"71 0000", "83 00", "56", "a1 05 61", "98 00"} {
		r := reader(t, cut)
		for name, read := range reads {
			r := *r
			if ok, err := read(&r); ok || err == nil {
				t.Errorf("%s of % x: %v %v", name, r.Rest(), ok, err)
			}
		}
	}
}

func TestReader_Descriptor(t *testing.T) {
	for _, c := range []struct {
		hex  string
		code uint64
		name string
		err  error
	}{
		{"00 53 70 45", 0x70, "", nil},
		{"00 80 0000000000000070 45", 0x70, "", nil},
		{"00 44 45", 0, "", nil},
		{"00 a3 01 61 45", 0, "a", nil},
		{"00 b3 00000001 61 45", 0, "a", nil},
		{"45", 0, "", amqp.ErrWrongType},
		{"", 0, "", amqp.ErrTruncated},
		{"00", 0, "", amqp.ErrTruncated},
		{"00 40 45", 0, "", amqp.ErrWrongType},
		{"00 54 ff 45", 0, "", amqp.ErrRange},
	} {
		r := reader(t, c.hex)
		code, name, err := r.Descriptor()
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.hex, err)
			continue
		}
		if err == nil && (code != c.code || string(name) != c.name || r.Len() != 1) {
			t.Errorf("%s: %#x %q, %d left", c.hex, code, name, r.Len())
		}
	}
}

func TestReader_ItemsStayInsideTheirList(t *testing.T) {
	r := reader(t, "c0 03 01 a1 05 6162636465")
	n, items, err := r.List()
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if _, _, err := items.Text(); !errors.Is(err, amqp.ErrTruncated) {
		t.Errorf("text beyond the list: %v", err)
	}
	if _, _, err := reader(t, "a0 01 ff").Text(); err == nil {
		t.Error("binary that is no UTF-8 was read as text")
	}
	if _, _, err := reader(t, "43").List(); !errors.Is(err, amqp.ErrWrongType) {
		t.Errorf("list of a number: %v", err)
	}
	if _, _, err := reader(t, "45").Map(); !errors.Is(err, amqp.ErrWrongType) {
		t.Errorf("map of a list: %v", err)
	}
	if _, _, err := reader(t, "").Map(); !errors.Is(err, amqp.ErrTruncated) {
		t.Errorf("map of nothing: %v", err)
	}
}

func TestReader_ErrorsCountFromTheStart(t *testing.T) {
	r := reader(t, "41 c0 03 01 50 01 c0 04 02 41 a1 09")
	_, _, _ = r.Bool()
	_, _ = r.Raw()
	_, items, err := r.List()
	if err != nil {
		t.Fatal(err)
	}
	_ = items.Skip()
	_, err = items.Value()
	var d *amqp.DecodeError
	if !errors.As(err, &d) || d.Offset != 10 {
		t.Errorf("got %v, want offset 10", err)
	}
}

func TestConvert(t *testing.T) {
	for _, v := range []any{uint8(5), uint16(5), uint32(5), uint64(5), int8(5), int16(5), int32(5), int64(5), amqp.Timestamp(5)} {
		if n, ok := amqp.AsInt64(v); n != 5 || !ok {
			t.Errorf("AsInt64(%T): %v %v", v, n, ok)
		}
		if n, ok := amqp.AsUint64(v); n != 5 || !ok {
			t.Errorf("AsUint64(%T): %v %v", v, n, ok)
		}
		if n, ok := amqp.AsUint32(v); n != 5 || !ok {
			t.Errorf("AsUint32(%T): %v %v", v, n, ok)
		}
	}
	if _, ok := amqp.AsInt64(uint64(1 << 63)); ok {
		t.Error("2^63 is no int64")
	}
	if _, ok := amqp.AsUint64(int64(-1)); ok {
		t.Error("-1 is not unsigned")
	}
	if _, ok := amqp.AsUint32(uint64(1 << 32)); ok {
		t.Error("2^32 is no uint32")
	}
	if _, ok := amqp.AsInt64("5"); ok {
		t.Error("text is no number")
	}
	for _, v := range []any{"x", amqp.Symbol("x"), []byte("x")} {
		if s, ok := amqp.AsString(v); s != "x" || !ok {
			t.Errorf("AsString(%T): %q %v", v, s, ok)
		}
		if got, ok := (amqp.Map{{nil, 0}, {v, 1}}).Get("x"); got != 1 || !ok {
			t.Errorf("Get with key %T: %v %v", v, got, ok)
		}
	}
	for _, v := range []any{nil, []byte{0xff}, 5} {
		if _, ok := amqp.AsString(v); ok {
			t.Errorf("%v is no text", v)
		}
	}
	if _, ok := (amqp.Map{{"y", 1}}).Get("x"); ok {
		t.Error("found a key that is not there")
	}
	if v, ok := amqp.AsBool(true); !v || !ok {
		t.Error("AsBool(true)")
	}
	for _, v := range []any{amqp.List{1}, amqp.Array{Items: []any{1}}} {
		if items, ok := amqp.ItemsOf(v); len(items) != 1 || !ok {
			t.Errorf("ItemsOf(%T): %v %v", v, items, ok)
		}
	}
}

func TestUUID_TextAndGuidLayout(t *testing.T) {
	if got := someUUID.String(); got != "b5dc4a70-ac5d-43b3-b132-ec8fcdac3a9d" {
		t.Errorf("text is %s", got)
	}
	// The pair of amqp-data-plane 4.5.
	want := amqp.UUID(unhex(t, "704adcb55dacb343b132ec8fcdac3a9d"))
	if got := someUUID.SwapGUID(); got != want {
		t.Errorf("Guid layout is % x", got)
	}
	if someUUID.SwapGUID().SwapGUID() != someUUID {
		t.Error("swapping twice is not the identity")
	}
}
