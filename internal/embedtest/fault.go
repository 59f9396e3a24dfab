package embedtest

import (
	"fmt"
	"net/http"
)

// Fault is what is wrong with a server's answers. Each member may be nil.
type Fault struct {
	Answer func(http.ResponseWriter, *http.Request)              // in place of the server
	Rows   func(rows []map[string]any) (others []map[string]any) // in place of those of an answer
}

func (f *Fault) rows(rows []map[string]any) []map[string]any {
	if f == nil || f.Rows == nil {
		return rows
	}
	return f.Rows(rows)
}

// Unauthorized refuses the key, and repeats it.
var Unauthorized = &Fault{Answer: func(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintf(w, `{"error":{"message":"the key %s is not valid"}}`, r.Header.Get("Authorization"))
}}

// WrongLength gives vectors of another dimension than was asked for.
var WrongLength = Vectors(func(v []float32) any { return v[:len(v)-1] })

// Vectors is a fault of each vector.
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
