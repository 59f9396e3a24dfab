package graph

import (
	"cmp"
	"reflect"
	"slices"
)

// Field is a declared part of the state. Set makes an update of it.
type Field[T any] struct{ id *fieldID }

// fieldID returns the field's id; for the zero Field, one that no graph declares.
func (f Field[T]) fieldID() *fieldID { return cmp.Or(f.id, &fieldID{}) }

// Set returns an update that replaces the field's value with v, or passes v to
// the field's reducer. Zero values count as set.
func (f Field[T]) Set(v T) Update { return Update{[]change{{field: f.fieldID(), value: v}}} }

// Value declares a field whose value each update replaces. No two tasks of one
// superstep may write it. It is stored as JSON under name.
func Value[S, T any](g *Graph[S], name string, at func(*S) *T) Field[T] {
	return declare(g, name, "", at, func(_, v T) T { return v })
}

// Reduce declares a field that merges updates with a pure function. A panic in
// the function fails the step with an error that names the field.
func Reduce[S, T any](g *Graph[S], name string, at func(*S) *T, reduce func(old, update T) T) Field[T] {
	return declare(g, name, "reduce", at, reduce)
}

// Append declares a list to which updates add items at the end, in task order.
func Append[S, T any](g *Graph[S], name string, at func(*S) *[]T) Field[[]T] {
	f := declare(g, name, "append", at, func(old, items []T) []T { return append(old, items...) })
	// Without spare capacity a node that appends to its copy of the state
	// reallocates, and cannot write into an array that its siblings see.
	g.fields[f.id.index].settle = func(state any) {
		list := at(state.(*S))
		*list = slices.Clip(*list)
	}
	return f
}

// Named is like Writes, but takes the names that fields are stored under.
func (g *graph) Named(names ...string) Option {
	var all []Writable
	for _, name := range names {
		all = append(all, Field[any]{g.field(name).fieldID})
	}
	return Writes(all...)
}

// Kept returns an update that sets the named fields to their values in s. A field with a
// reducer merges its value like any other update.
func (g *Graph[S]) Kept(s S, names ...string) (u Update) {
	for _, name := range names {
		f := g.field(name)
		u.changes = append(u.changes, change{field: f.fieldID, value: f.get(&s)})
	}
	return u
}

// field returns the field of that name, or one that belongs to no graph if there is none.
func (s *shape) field(name string) *fieldDef {
	at := slices.IndexFunc(s.fields, func(f *fieldDef) bool { return f.name == name })
	if at < 0 {
		return &fieldDef{fieldID: &fieldID{name: name}, get: func(any) any { return nil }}
	}
	return s.fields[at]
}

// Number is a type that Sum can add.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Sum declares a number to which each update adds.
func Sum[S any, T Number](g *Graph[S], name string, at func(*S) *T) Field[T] {
	return declare(g, name, "sum", at, func(old, n T) T { return old + n })
}

func declare[S, T any](g *Graph[S], name, reducer string, at func(*S) *T, merge func(old, update T) T) Field[T] {
	return Field[T]{g.addField(name, &fieldDef{
		reducer: reducer,
		typ:     reflect.TypeFor[T](),
		at:      func(state any) any { return at(state.(*S)) },
		get:     func(state any) any { return *at(state.(*S)) },
		encode: func(v any) (any, pieces, error) {
			kept, _ := v.(T) // of an interface type, nil has no type
			raw, err := encode(&kept)
			return kept, raw, err
		},
		decode: func(raw []byte) (any, error) { return decode[T](raw) },
		merge: func(state, v any) {
			update, _ := v.(T)
			*at(state.(*S)) = merge(*at(state.(*S)), update)
		},
		settle: func(any) {},
	})}
}

// addField is separate from declare, which is compiled again for every field type.
func (g *graph) addField(name string, f *fieldDef) *fieldID {
	g.checkName("field", name)
	if slices.ContainsFunc(g.fields, func(f *fieldDef) bool { return f.name == name }) {
		g.refuse("field %q is declared twice", name)
	}
	f.fieldID = &fieldID{owner: g, name: name, index: len(g.fields)}
	g.fields = append(g.fields, f)
	return f.fieldID
}

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
