package atom

import "time"

// Content is the content of an entry: [Queue], [Topic], [Subscription], [Rule] or [Namespace].
type Content interface {
	write(w *writer, v View)
}

// Entry is one entity in an answer.
type Entry struct {
	ID        string
	Title     string
	Published int64  // ms since the Unix epoch; 0: none
	Updated   int64  // ms
	Author    string // "": none
	Self      string // address of the entity
	Content   Content
}

// Encode returns the document of a single entry.
func (e Entry) Encode(v View) []byte {
	var w writer
	e.write(&w, v, "xmlns", nsAtom)
	return w.b
}

func (e Entry) write(w *writer, v View, attrs ...string) {
	w.open("entry", attrs...)
	w.text("id", e.ID)
	w.text("title", e.Title, "type", "text")
	if e.Published != 0 {
		w.text("published", formatSeconds(e.Published))
	}
	w.text("updated", formatSeconds(e.Updated))
	if e.Author != "" {
		w.open("author")
		w.text("name", e.Author)
		w.close("author")
	}
	w.empty("link", "rel", "self", "href", e.Self)
	w.open("content", "type", "application/xml")
	e.Content.write(w, v)
	w.close("content")
	w.close("entry")
}

// Feed is a page of a list.
type Feed struct {
	Title   string // Queues, Topics, Subscriptions, Rules
	ID      string // address of the page
	Updated int64  // ms
	Next    string // address of the next page; "": none. Python's client reads on exactly if the feed has two links
	Entries []Entry
}

// Encode returns the document.
func (f Feed) Encode(v View) []byte {
	var w writer
	w.open("feed", "xmlns", nsAtom)
	w.text("title", f.Title, "type", "text")
	w.text("id", f.ID)
	w.text("updated", formatSeconds(f.Updated))
	w.empty("link", "rel", "self", "href", f.ID)
	if f.Next != "" {
		w.empty("link", "rel", "next", "href", f.Next)
	}
	for _, e := range f.Entries {
		e.write(&w, v, "xml:base", f.ID)
	}
	w.close("feed")
	return w.b
}

// NothingHere returns the feed that answers the get of a queue or topic that does not exist. Clients recognise it by
// its title.
func NothingHere(id string, now int64) []byte {
	var w writer
	w.open("feed", "xmlns", nsAtom)
	w.text("title", "Publicly Listed Services", "type", "text")
	w.text("subtitle", "This is the list of publicly-listed services currently available.", "type", "text")
	w.text("id", "uuid:"+id+";id=1")
	w.text("updated", formatSeconds(now))
	w.text("generator", "Service Bus 1.1")
	w.close("feed")
	return w.b
}

// Problem returns an error document; the code is the HTTP status.
func Problem(code int, detail string) []byte {
	var w writer
	w.open("Error")
	w.int("Code", int64(code))
	w.text("Detail", detail)
	w.close("Error")
	return w.b
}

// Namespace has the properties of the namespace that clients see.
type Namespace struct {
	Name     string
	Created  time.Time
	Modified time.Time
	SKU      string
	Units    int // messaging units: JavaScript's client needs them in Premium; 0: none
}

// write appends the namespace's properties.
func (n Namespace) write(w *writer, _ View) {
	w.open("NamespaceInfo", namespaces...)
	w.time("CreatedTime", n.Created.UnixMilli())
	w.text("MessagingSKU", n.SKU)
	if n.Units > 0 {
		w.int("MessagingUnits", int64(n.Units))
	}
	w.time("ModifiedTime", n.Modified.UnixMilli())
	w.text("Name", n.Name)
	w.text("NamespaceType", "Messaging")
	w.close("NamespaceInfo")
}
