package graph

import (
	"cmp"
	"reflect"
	"slices"
)

// Field is a declared part of the state. Its Set makes updates.
type Field[T any] struct{ id *fieldID }

// fieldID of a zero Field is one that no graph declares.
func (f Field[T]) fieldID() *fieldID { return cmp.Or(f.id, &fieldID{}) }

// Set returns the update that gives v to the field: it replaces the value, or
// goes through the field's reducer. Zero values count as set.
func (f Field[T]) Set(v T) Update { return Update{[]change{{field: f.fieldID(), value: v}}} }

// Value declares a field that a new value replaces. No two tasks of one
// superstep may write it. The codec stores it as JSON under name.
func Value[S, T any](g *Graph[S], name string, at func(*S) *T) Field[T] {
	return declare(g, name, "", at, func(_, v T) T { return v })
}

// Reduce declares a field whose updates go through a pure function. A panic in
// it fails the step with an error that names the field.
func Reduce[S, T any](g *Graph[S], name string, at func(*S) *T, reduce func(old, update T) T) Field[T] {
	return declare(g, name, "reduce", at, reduce)
}

// Append declares a list; setting it adds items at its end, in task order.
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

// Named is Writes by the names that fields are stored under.
func (g *graph) Named(names ...string) Option {
	var all []Writable
	for _, name := range names {
		all = append(all, Field[any]{g.field(name).fieldID})
	}
	return Writes(all...)
}

// Kept returns the update that gives the named fields what they have in s. A field with a
// reducer takes it as what is new.
func (g *Graph[S]) Kept(s S, names ...string) (u Update) {
	for _, name := range names {
		f := g.field(name)
		u.changes = append(u.changes, change{field: f.fieldID, value: f.get(&s)})
	}
	return u
}

// field is the one of a name; of a name that is not declared it is one of no graph.
func (g *graph) field(name string) *fieldDef {
	at := slices.IndexFunc(g.fields, func(f *fieldDef) bool { return f.name == name })
	if at < 0 {
		return &fieldDef{fieldID: &fieldID{name: name}, get: func(any) any { return nil }}
	}
	return g.fields[at]
}

// Number is what Sum adds.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Sum declares a number; setting it adds to it.
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

// addField is apart from declare, which is compiled anew for every type of field.
func (g *graph) addField(name string, f *fieldDef) *fieldID {
	g.checkName("field", name)
	if slices.ContainsFunc(g.fields, func(f *fieldDef) bool { return f.name == name }) {
		g.refuse("field %q is declared twice", name)
	}
	f.fieldID = &fieldID{owner: g, name: name, index: len(g.fields)}
	g.fields = append(g.fields, f)
	return f.fieldID
}
