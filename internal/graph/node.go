package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// Node declares a step that computes. Its function receives a copy of the state,
// which it must not change, and returns an update.
func (g *Graph[S]) Node(name string, run func(context.Context, S) (Update, error), o ...Option) Node {
	n := g.add(name, kindNode, run != nil, o)
	n.run = func(ctx context.Context, state, _ any) (Update, error) { return run(ctx, *state.(*S)) }
	return Node{n.targetRef}
}

// Effect declares a step that acts on the outside world. It is drawn differently
// and never retried on its own. The journal records the intent before act is
// called. If a run finds the intent without a result, because the process died or
// act failed, look reports whether the act was done and with which update; act
// runs again only if it was not.
func (g *Graph[S]) Effect(name string, act func(context.Context, S) (Update, error),
	look func(context.Context, S) (u Update, done bool, err error), o ...Option) Node {
	n := g.add(name, kindEffect, act != nil && look != nil, o)
	n.run = func(ctx context.Context, state, _ any) (Update, error) { return act(ctx, *state.(*S)) }
	n.look = func(ctx context.Context, state any) (Update, bool, error) { return look(ctx, *state.(*S)) }
	return Node{n.targetRef}
}

// Each declares a node that runs once per payload. A route leads to it with Fan.Over;
// the next node runs once, after every task has ended. P is stored as JSON.
func Each[S, P any](g *Graph[S], name string, run func(context.Context, S, P) (Update, error), o ...Option) Fan[P] {
	n := g.add(name, kindFan, run != nil, o, reflect.TypeFor[P]())
	n.run = func(ctx context.Context, state, payload any) (Update, error) {
		return run(ctx, *state.(*S), payload.(P))
	}
	n.payloads = func(raw []byte) ([]any, error) {
		list, err := decode[[]P](raw)
		return toAny(list), err
	}
	return Fan[P]{n.targetRef}
}

// Gate declares a node where the run waits for an answer. Ask must be pure; it returns
// what the person sees and is called once per visit. Decide turns the answer into an
// update. If it returns an error, the answer is refused and the gate keeps waiting.
func Gate[S, Q, A any](g *Graph[S], name string, ask func(S) (Q, error), decide func(S, A) (Update, error),
	o ...Option) Node {
	n := g.add(name, kindGate, ask != nil && decide != nil, o, reflect.TypeFor[Q](), reflect.TypeFor[A]())
	n.ask = func(state any) ([]byte, error) {
		q, err := ask(*state.(*S))
		if err != nil {
			return nil, err
		}
		data, err := encode(&q)
		return data.join(), err
	}
	n.decide = func(state, value any) (Update, error) {
		a, err := answerAs[A](value)
		if err != nil {
			return Update{}, err
		}
		return decide(*state.(*S), a)
	}
	return Node{n.targetRef}
}

// answerAs accepts an answer as a value of the gate's own type or as its JSON.
func answerAs[A any](value any) (A, error) {
	var a A
	switch v := value.(type) {
	case A:
		return v, nil
	case json.RawMessage:
		a, err := decode[A](v)
		if err != nil {
			return a, fmt.Errorf("%w: %w", ErrAnswer, err)
		}
		return a, nil
	}
	return a, fmt.Errorf("%w: want %T or its JSON, got %T", ErrAnswer, a, value)
}

func (g *graph) add(name string, k kind, runs bool, o []Option, types ...reflect.Type) *nodeDef {
	n := &nodeDef{
		targetRef: targetRef{owner: g, name: name, kind: k},
		settings:  settings{concurrency: 8},
		types:     types,
	}
	for _, opt := range o {
		opt(&n.settings)
	}
	g.checkName("node", name)
	if g.node(name) != nil {
		g.refuse("node %q is declared twice", name)
	}
	if !runs {
		g.refuse("node %q: it has no function", name)
	}
	g.checkSettings(n)
	g.nodes = append(g.nodes, n)
	return n
}

func (g *graph) checkSettings(n *nodeDef) {
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			g.refuse("node %q: %w", n.name, fmt.Errorf(format, args...))
		}
	}
	refuse(n.concurrency < 1, "concurrency %d is less than 1", n.concurrency)
	refuse(n.onError != nil && n.kind == kindGate, "a gate has no error policy: decide refuses an answer by its error")
	for _, w := range n.writes {
		refuse(w.owner != any(g), "it writes field %q, which this graph does not declare", w.name)
	}
	payload := "none (use any)"
	if n.kind == kindFan {
		payload = n.types[0].String()
	}
	if n.onError != nil && n.onErrorOf != reflect.TypeFor[any]() {
		refuse(n.onErrorOf.String() != payload, "its error policy takes %s, its payload is %s", n.onErrorOf, payload)
	}
	if n.unreached != nil {
		refuse(n.unreachedOf.String() != payload, "its Unreached takes %s, its payload is %s", n.unreachedOf, payload)
	}
}

// Option is a property of a node.
type Option func(*settings)

type settings struct {
	writes      []*fieldID
	concurrency int
	onError     func(payload any, err error) (Update, error)
	onErrorOf   reflect.Type // the P of OnError
	unreached   func(payload any) (Update, error)
	unreachedOf reflect.Type // the P of Unreached
}

// Writes declares which fields the node may set. Setting another is an error
// that names node and field.
func Writes(fields ...Writable) Option {
	return func(s *settings) {
		for _, f := range fields {
			s.writes = append(s.writes, f.fieldID())
		}
	}
}

// Concurrency bounds how many tasks of the node run at one time. The default is 8.
func Concurrency(n int) Option { return func(s *settings) { s.concurrency = n } }

// OnError sets the node's policy for a task that failed. The policy turns the
// error into an update, and the step continues; or it returns an error, which fails
// the step once the task's siblings have ended. P is the payload of an Each, or
// any (nil for nodes without payloads). The policy is not called on cancellation.
func OnError[P any](policy func(payload P, err error) (Update, error)) Option {
	return func(s *settings) {
		s.onErrorOf = reflect.TypeFor[P]()
		s.onError = func(payload any, err error) (Update, error) {
			p, _ := payload.(P)
			return policy(p, err)
		}
	}
}
