package graph

// EventKind says what an event reports.
type EventKind string

// The kinds of events, in the order in which a step gives them.
const (
	StepStarted EventKind = "step started" // a node's tasks begin: Node, Done (taken from the journal), Total
	TaskDone    EventKind = "task done"    // a task ended: Task, Done of Total, Err where it failed
	GateReached EventKind = "gate reached" // the run pauses: Node is the gate's name
	RunEnded    EventKind = "run ended"    // Node is the end's name
)

// Event is one thing that happened in a run. Done counts the node's tasks that
// ended, failed ones included.
type Event struct {
	Kind        EventKind
	Node        string
	Done, Total int
	Err         error
}

func (f *Flow[S]) emit(e Event) {
	if len(f.observers) == 0 {
		return
	}
	f.emitting.Lock()
	defer f.emitting.Unlock()
	for _, observe := range f.observers {
		observe(e)
	}
}
