// Package api answers questions about tasks over HTTP.
package api

import (
	"encoding/json"
	"net/http"
	"time"

	"example.com/taskmaster/store"
)

// Overdue answers with the tasks that are late.
func Overdue(s *store.Store, now func() time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Overdue(now()))
	}
}
