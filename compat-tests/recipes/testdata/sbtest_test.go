package shop

import "strconv"

func init() {
	for i := range 4 {
		tests[strconv.Itoa(i)] = isolated
	}
}
