package message

// SizeHint returns an upper bound of how many bytes longer than m.Raw the result of [Patch.Append] is: parts of fixed size, such as
// headers of sections, keys of annotations and numbers, and the contents of the patch.
func (p *Patch) SizeHint(*Message) int {
	return 512 + len(p.MessageID) + len(p.DeadLetterSource) + len(p.Properties) + len(p.System)
}

// DeliveryAnnotation decodes one delivery annotation.
func (m *Message) DeliveryAnnotation(key string) (any, bool) {
	n, r := m.items(m.DeliveryAnnotations)
	return lookup(n, r, key)
}
