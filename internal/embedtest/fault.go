package embedtest

import (
	"fmt"
	"net/http"
)

// Fault is what is wrong with a server's answers. Each field may be nil.
type Fault struct {
	Answer func(http.ResponseWriter, *http.Request)              // answers in place of the server
	Rows   func(rows []map[string]any) (others []map[string]any) // replaces the rows of an answer
}

func (f *Fault) rows(rows []map[string]any) []map[string]any {
	if f == nil || f.Rows == nil {
		return rows
	}
	return f.Rows(rows)
}

// Unauthorized refuses the key, and echoes it.
var Unauthorized = &Fault{Answer: func(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintf(w, `{"error":{"message":"the key %s is not valid"}}`, r.Header.Get("Authorization"))
}}

// WrongLength returns vectors of another dimension than requested.
var WrongLength = Vectors(func(v []float32) any { return v[:len(v)-1] })

// Vectors returns a fault that changes each vector.
func Vectors(change func([]float32) any) *Fault {
	return &Fault{Rows: func(rows []map[string]any) []map[string]any {
		for _, row := range rows {
			if v, embedded := row["embedding"].([]float32); embedded {
				row["embedding"] = change(v)
			}
		}
		return rows
	}}
}
