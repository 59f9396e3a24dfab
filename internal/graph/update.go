package graph

// Update is a set of changes to the state. The zero value changes nothing.
type Update struct{ changes []change }

type change struct {
	field *fieldID
	value any
	raw   pieces // JSON of value if it replaces the field's; otherwise nil
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

// Writable is a field of any type, as accepted by Writes.
type Writable interface{ fieldID() *fieldID }
