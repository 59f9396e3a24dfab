package store

import (
	"testing"
	"time"
)

func TestAddNeedsATitle(t *testing.T) {
	if _, err := new(Store).Add(Task{}); err == nil {
		t.Fatal("a task without a title was kept")
	}
}

func TestOverdueListsWhatIsLate(t *testing.T) {
	s := new(Store)
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s.Add(Task{Title: "late", Due: now.Add(-time.Hour)})
	s.Add(Task{Title: "in time", Due: now.Add(time.Hour)})
	if late := s.Overdue(now); len(late) != 1 || late[0].Title != "late" {
		t.Fatalf("overdue: %v", late)
	}
}
