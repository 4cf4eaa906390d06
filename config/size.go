package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int64

// units are those of sizes, the longest names first.
var units = []struct {
	name  string
	bytes int64
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}}

// parseSize reads a whole number of bytes, KiB, MiB or GiB; off is 0.
func parseSize(v string) (Size, error) {
	text := strings.ToLower(strings.ReplaceAll(v, " ", ""))
	if text == "off" {
		return 0, nil
	}
	factor := int64(1)
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, factor = number, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("found %q; allowed: a size such as 16MiB, or off", v)
	}
	return Size(n * factor), nil
}
