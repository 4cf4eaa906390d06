package atom

import "minibus/emulator"

// Version is an api-version. Every one is served; the newer ones show more.
type Version string

// has reports whether answers of this version have what was added in the given one. A version that is absent, or that is
// no version, shows everything: whoever does not know an element skips it.
func (v Version) has(added Version) bool {
	if len(v) < len("2006-01") || v[0] < '0' || v[0] > '9' {
		return true
	}
	return v >= added
}

// The versions that added elements.
const (
	version2021 Version = "2021-05" // MaxMessageSizeInKilobytes, IsClientAffine
	version2024 Version = "2024-05" // SqlFilterCount, CorrelationFilterCount
)

// skuOf is the tier that the profile of limits stands for (DEC-1).
func skuOf(v View) string {
	if v.Limits == emulator.LimitsPremium {
		return "Premium"
	}
	return "Standard"
}
