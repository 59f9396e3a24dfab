package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

func silent(context.Context, state) (graph.Update, error)          { return graph.Update{}, nil }
func silentTask(context.Context, state, int) (graph.Update, error) { return graph.Update{}, nil }
func unseen(context.Context, state) (graph.Update, bool, error) {
	return graph.Update{}, false, nil
}
func nowhere(state) graph.Next { return graph.Next{} }

func TestG1_FanThatWritesAPlainFieldDoesNotBuild(t *testing.T) {
	k := newKit()
	split := k.node("split")
	each := graph.Each(k.Graph, "work", silentTask, graph.Writes(k.name, k.log))
	k.Start(split)
	k.Route(split, nowhere, each)
	k.Edge(each, graph.End("Done"))
	require.Equal(t, `building graph "test": field "name" has no reducer, and several tasks of one step may write`+
		` it: work`, k.refused(t))
}

func TestG1_BranchesThatWriteOneFieldDoNotBuild(t *testing.T) {
	k := newKit()
	split := k.node("split")
	a := k.Node("a", silent, graph.Writes(k.name))
	b := k.Node("b", silent)
	c := k.Node("c", silent, graph.Writes(k.flag))
	d := k.Node("d", silent, graph.Writes(k.name, k.flag))
	join := k.Node("join", silent, graph.Writes(k.name, k.flag))
	k.Start(split)
	k.Edge(split, a)
	k.Edge(split, b)
	k.Edge(a, c)
	k.Route(b, nowhere, d)
	k.Edge(c, join)
	k.Edge(d, join)
	k.Edge(join, graph.End("Done"))
	require.Equal(t, `building graph "test": field "flag" has no reducer, and several tasks of one step may write`+
		` it: c, d`, k.refused(t))
}

func TestG5_WhatCannotRunDoesNotBuild(t *testing.T) {
	done := graph.End("Done")
	for want, wire := range map[string]func(k kit, a, b graph.Node){
		`node "b" is unreachable`: func(k kit, a, b graph.Node) {
			k.Start(a)
			k.Edge(a, done)
			k.Edge(b, done)
		},
		`node "b" leads nowhere: give it an edge, a route or an end`: func(k kit, a, b graph.Node) {
			k.Start(a)
			k.Edge(a, b)
		},
		`no end can be reached from node "b"`: func(k kit, a, b graph.Node) {
			k.Start(a)
			k.Route(a, nowhere, b, done)
			k.Edge(b, b)
		},
		`no entry point: name one with Start`: func(k kit, a, b graph.Node) { k.Edge(a, b); k.Edge(b, done) },
		`2 entry points: "a", "b"`:            func(k kit, a, b graph.Node) { k.line(a, b); k.Start(b) },
		`entry point: "Done" is an end`: func(k kit, a, b graph.Node) {
			k.Start(done)
			k.Edge(a, b)
			k.Edge(b, done)
		},
		`entry point: target is missing`: func(k kit, a, b graph.Node) {
			k.Start(nil)
			k.Edge(a, b)
			k.Edge(b, done)
		},
		`edge from "b": target is missing`: func(k kit, a, b graph.Node) { k.line(a, b); k.Edge(b, nil) },
		`edge from "b": "" is not a node of this graph`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Edge(b, graph.Node{})
		},
		`edge from "b": "split" is not a node of this graph`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Edge(b, newKit().node("split"))
		},
		`edge from "a" to "b" is declared twice`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Edge(a, b)
		},
		`start of an edge: "Done" is an end`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Edge(done, a)
		},
		`route from "b" names no target`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Route(b, nowhere)
		},
		`route from "b" has no function`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Route(b, nil, done)
		},
		`route from "b" names "a" twice`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Route(b, nowhere, a, a)
		},
		`node "b" has two routes`: func(k kit, a, b graph.Node) {
			k.line(a)
			k.Route(b, nowhere, a)
			k.Route(b, nowhere, done)
		},
		`interrupt: "Done" is an end`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.InterruptAfter(done)
		},
		`node "a" is declared twice`: func(k kit, a, b graph.Node) {
			k.line(a, b, k.node("a"))
		},
		`node "a:b": a name is a letter and up to 63 letters`: func(k kit, a, b graph.Node) {
			k.line(a, b, k.node("a:b"))
		},
		`node "c": it has no function`: func(k kit, a, b graph.Node) { k.line(a, b, k.Node("c", nil)) },
		`node "c": concurrency 0 is less than 1`: func(k kit, a, b graph.Node) {
			k.line(a, b, k.Node("c", silent, graph.Concurrency(0)))
		},
		`node "looks": it has no function`: func(k kit, a, b graph.Node) {
			k.line(a, b, k.Effect("looks", silent, nil))
		},
		`node "c": its Unreached takes string, its payload is none`: func(k kit, a, b graph.Node) {
			k.line(a, b, k.Node("c", silent, graph.Unreached(func(string) graph.Update { return graph.Update{} })))
		},
		`node "c": it writes field "log", which this graph does not`: func(k kit, a, b graph.Node) {
			k.line(a, b, k.Node("c", silent, graph.Writes(newKit().log)))
		},
		`node "c": its error policy takes string, its payload is none`: func(k kit, a, b graph.Node) {
			k.line(a, b, k.Node("c", silent, graph.OnError(func(string, error) (graph.Update, error) {
				return graph.Update{}, nil
			})))
		},
		`edge from "a" leads to fan "c", which needs payloads: use a route`: func(k kit, a, b graph.Node) {
			k.line(a, graph.Each(k.Graph, "c", silentTask))
			k.Edge(a, b)
			k.Edge(b, done)
		},
		`node "b" has edges and a route`: func(k kit, a, b graph.Node) { k.line(a, b); k.Route(b, nowhere, a) },
		`node "a" has edges and a route`: func(k kit, a, b graph.Node) { k.Route(a, nowhere, b); k.line(a, b) },
		`fan "d" can be given payloads by two nodes of one step`: func(k kit, a, b graph.Node) {
			c, d := k.node("c"), graph.Each(k.Graph, "d", silentTask)
			k.Start(a)
			k.Edge(a, b)
			k.Edge(a, c)
			k.Route(b, nowhere, d)
			k.Route(c, nowhere, d)
			k.Edge(d, done)
		},
		`the empty branch of "c" is a fan`: func(k kit, a, b graph.Node) {
			c := graph.Each(k.Graph, "c", silentTask)
			k.line(a, b)
			k.Route(b, nowhere, c.OrElse(c))
			k.Edge(c, done)
		},
		`node "b" can run twice: the branches that lead to it are of different length`: func(k kit, a, b graph.Node) {
			c := k.node("c")
			k.line(a, b)
			k.Edge(a, c)
			k.Edge(c, b)
		},
		`end "Done" can be reached while "b" is still to come`: func(k kit, a, b graph.Node) {
			k.line(a, b)
			k.Edge(a, done)
		},
	} {
		t.Run(want, func(t *testing.T) {
			k := newKit()
			wire(k, k.node("a"), k.node("b"))
			require.Contains(t, k.refused(t), want)
		})
	}
}

func TestG5_AllMistakesAreReportedAtOnce(t *testing.T) {
	k := newKit()
	a := k.Node("a", nil, graph.Concurrency(0))
	k.Edge(a, nil)
	why := k.refused(t)
	for _, want := range []string{"no function", "concurrency 0", "no entry point", "target is missing"} {
		require.Contains(t, why, want)
	}
}

func TestG5_GateOrInterruptWithoutAStoreDoesNotBuild(t *testing.T) {
	gated := newKit()
	gated.line(gated.gate("gate"))
	_, err := gated.Build(nil)
	require.ErrorContains(t, err, "a gate or interrupt needs a store")
	interrupted := newKit()
	a := interrupted.node("a")
	interrupted.line(a)
	interrupted.InterruptBefore(a)
	_, err = interrupted.Build(nil)
	require.ErrorContains(t, err, "a gate or interrupt needs a store")
}

func TestG5_LoopsAfterAMeetingBuild(t *testing.T) {
	k := newKit()
	split, a, b, join := k.node("split"), k.node("a"), k.node("b"), k.node("join")
	k.Start(split)
	k.Edge(split, a)
	k.Edge(split, b)
	k.Edge(a, join)
	k.Edge(b, join)
	k.Route(join, nowhere, split, graph.End("Done"))
	k.build(t, nil)
}

func TestStateThatWouldBeLostDoesNotBuild(t *testing.T) {
	type inner struct {
		Held, Lost int
	}
	type wide struct {
		inner
		Text   string
		Nested struct{ A, B int }
		Forgot int
	}
	g := graph.New[wide]("test", 1)
	other := 0
	graph.Value(g, "text", func(s *wide) *string { return &s.Text })
	graph.Value(g, "again", func(s *wide) *string { return &s.Text })
	graph.Value(g, "part", func(s *wide) *int { return &s.Nested.A })
	graph.Value(g, "held", func(s *wide) *int { return &s.Held })
	graph.Value(g, "other", func(*wide) *int { return &other })
	_, err := g.Build(nil)
	for _, want := range []string{
		`field "again" points at no part of the state, or at one that another field has`,
		`field "part" points at no part`,
		`field "other" points at no part`,
		`wide.Nested is in no field of the graph and would be lost`,
		`wide.Forgot is in no field of the graph and would be lost`,
		`wide.Lost is in no field of the graph and would be lost`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), `"text"`)
	require.NotContains(t, err.Error(), `"held"`)
}

func TestFingerprintFollowsFieldsAndWiring(t *testing.T) {
	prints := map[string]string{}
	for name, wire := range map[string]func(k kit){
		"plain":     func(k kit) { k.line(k.node("a")) },
		"renamed":   func(k kit) { k.line(k.node("b")) },
		"longer":    func(k kit) { k.line(k.node("a"), k.node("b")) },
		"reversed":  func(k kit) { b, a := k.node("a"), k.node("b"); k.line(a, b) },
		"effect":    func(k kit) { k.line(k.Effect("a", silent, unseen, graph.Writes(k.log))) },
		"interrupt": func(k kit) { a := k.node("a"); k.line(a); k.InterruptBefore(a) },
		"field":     func(k kit) { k.line(k.Node("a", silent, graph.Writes(k.name))) },
	} {
		k := newKit()
		wire(k)
		print := k.build(t, graph.NewMemory()).Fingerprint()
		require.Len(t, print, 64)
		require.Empty(t, prints[print], "%s has the fingerprint of %s", name, prints[print])
		prints[print] = name
	}
	k := newKit()
	k.line(k.node("a"))
	require.Equal(t, "plain", prints[k.build(t, nil).Fingerprint()])
}
