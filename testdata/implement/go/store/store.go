// Package store keeps tasks in memory.
package store

import (
	"errors"
	"time"
)

// Task is one thing to do.
type Task struct {
	ID    int       `json:"id"`
	Title string    `json:"title"`
	Done  bool      `json:"done"`
	Due   time.Time `json:"due,omitzero"`
}

// Store is a list of tasks.
type Store struct{ tasks []Task }

// Add keeps a task and gives it an id.
func (s *Store) Add(t Task) (Task, error) {
	if t.Title == "" {
		return Task{}, errors.New("a task needs a title")
	}
	t.ID = len(s.tasks) + 1
	s.tasks = append(s.tasks, t)
	return t, nil
}

// Overdue lists the open tasks whose day has passed.
func (s *Store) Overdue(now time.Time) []Task {
	var late []Task
	for _, t := range s.tasks {
		if !t.Done && t.Due.Before(now) {
			late = append(late, t)
		}
	}
	return late
}
