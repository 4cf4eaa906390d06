package atom

// Version is an api-version. All are served; newer ones show more elements.
type Version string

// has reports whether answers of this version have the elements that the given one added. An absent or invalid version
// shows everything: clients skip unknown elements.
func (v Version) has(added Version) bool {
	if len(v) < len("2006-01") || v[0] < '0' || v[0] > '9' {
		return true
	}
	return v >= added
}

// The versions that added elements.
const (
	version2021 Version = "2021-05" // MaxMessageSizeInKilobytes, IsClientAffine, ClientAffineProperties
	version2024 Version = "2024-05" // SqlFilterCount, CorrelationFilterCount
)
