package config

import "strconv"

// Thousands returns a number for people: with commas from 1,000 on.
func Thousands[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Plural returns a number with a noun, in the plural unless it is one.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Summary returns how many entities and namespaces the configuration has, in words.
func (t *Topology) Summary() string {
	var queues, topics, subscriptions int
	for _, one := range t.All() {
		for _, e := range one.Entities {
			if e.Queue != nil {
				queues++
			} else {
				topics++
				subscriptions += len(e.Topic.Subscriptions)
			}
		}
	}
	text := Plural(queues, "queue")
	if topics > 0 {
		text += ", " + Plural(topics, "topic") + " with " + Plural(subscriptions, "subscription")
	}
	if n := len(t.Others); n > 0 {
		text += ", in " + Plural(n+1, "namespace")
	}
	return text
}
