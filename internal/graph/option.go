package graph

import "reflect"

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
// error into an update, and the step goes on; or it returns an error, which fails
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
