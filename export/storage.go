package export

import (
	"cmp"
	"slices"
	"time"

	"minibus/mgmt/atom"
)

// duplicates adds the attributes of duplicate detection. Without it there is no window.
func duplicates(list []attr, names storageNames, required bool, d time.Duration) []attr {
	list = append(list, attr{names.dedup, required})
	if required {
		list = append(list, attr{names.window, window(d)})
	}
	return list
}

// storageNames are a format's names for the attributes that only queues and topics have.
type storageNames struct{ dedup, window, partitioned, express, sizeMB, messageKB string }

// terraformStorage are the names for storage.
var terraformStorage = storageNames{"requires_duplicate_detection", "duplicate_detection_history_time_window",
	"partitioning_enabled", "express_enabled",
	"max_size_in_megabytes", "max_message_size_in_kilobytes"}

// storage adds the attributes that only queues and topics have. The message size can be set in Premium only.
func storage(list []attr, names storageNames, partitioned, express bool, sizeMB, messageKB int64) []attr {
	list = append(list, attr{names.partitioned, partitioned})
	if express {
		list = append(list, attr{names.express, true})
	}
	if sizeMB > 0 {
		list = append(list, attr{names.sizeMB, sizeMB})
	}
	if messageKB > 0 && messageKB != standardMessageKB {
		list = append(list, attr{names.messageKB, messageKB})
	}
	return list
}

func sortedParameters(list []atom.Parameter) []atom.Parameter {
	return slices.SortedFunc(slices.Values(list), func(a, b atom.Parameter) int { return cmp.Compare(a.Key, b.Key) })
}
