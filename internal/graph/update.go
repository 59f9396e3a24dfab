package graph

// Update is what a node wants changed. The zero value changes nothing.
type Update struct{ changes []change }

type change struct {
	field *fieldID
	value any
	raw   pieces // its JSON, where that becomes the field's; else nil
}

// Updates joins updates; they are merged in the order given.
func Updates(us ...Update) Update {
	var all Update
	for _, u := range us {
		all.changes = append(all.changes, u.changes...)
	}
	return all
}

type fieldID struct {
	owner any // the graph that declared it
	name  string
	index int
}

// Writable is a field of any type, as Writes takes it.
type Writable interface{ fieldID() *fieldID }
