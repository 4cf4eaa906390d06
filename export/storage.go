package export

import (
	"cmp"
	"slices"
	"time"

	"minibus/mgmt/atom"
)

// duplicates adds Terraform's arguments of duplicate detection. Without it there is no window.
func duplicates(list []attr, required bool, d time.Duration) []attr {
	list = append(list, attr{"requires_duplicate_detection", required})
	if required {
		list = append(list, attr{"duplicate_detection_history_time_window", window(d)})
	}
	return list
}

// storage adds Terraform's arguments that only queues and topics have. The message size can be set in Premium only.
func storage(list []attr, partitioned, express bool, sizeMB, messageKB int64) []attr {
	list = append(list, attr{"partitioning_enabled", partitioned})
	if express {
		list = append(list, attr{"express_enabled", true})
	}
	if sizeMB > 0 {
		list = append(list, attr{"max_size_in_megabytes", sizeMB})
	}
	if messageKB > 0 && messageKB != standardMessageKB {
		list = append(list, attr{"max_message_size_in_kilobytes", messageKB})
	}
	return list
}

func sortedParameters(list []atom.Parameter) []atom.Parameter {
	return slices.SortedFunc(slices.Values(list), func(a, b atom.Parameter) int { return cmp.Compare(a.Key, b.Key) })
}
