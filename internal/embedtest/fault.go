package embedtest

import (
	"bytes"
	"fmt"
	"net/http"
)

// Fault is what is wrong with a server's answers.
type Fault int

// The faults. Those of vectors show in embeddings alone.
const (
	None Fault = iota
	Unauthorized
	Limited      // 429 each time
	Broken       // 500 each time
	Silent       // no answer while the client waits
	WrongLength  // vectors of another dimension than was asked for
	NotANumber   // nulls for numbers
	Zeros        // vectors without a direction
	Fewer        // one row less than was asked for
	Repeated     // the first row twice, the last one not
	OutOfRange   // a row of a text that was not sent
	Huge         // an answer of 50 MB
	Redirect     // to Elsewhere
	NoJSON       // a text
	AnotherShape // JSON that is no answer
)

// before answers in place of the server; false where the fault is within an answer.
func (f Fault) before(s *Server, w http.ResponseWriter, r *http.Request) bool {
	switch f {
	case Unauthorized:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"the key %s is not valid"}}`, r.Header.Get("Authorization"))
	case Limited:
		w.WriteHeader(http.StatusTooManyRequests)
	case Broken:
		w.WriteHeader(http.StatusInternalServerError)
	case Silent:
		<-r.Context().Done()
	case Huge:
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":"`)
		part := bytes.Repeat([]byte("A"), 1<<20)
		for range 50 {
			_, _ = w.Write(part) // the client may have gone
		}
		fmt.Fprint(w, `"}]}`)
	case Redirect:
		http.Redirect(w, r, s.Elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
	case NoJSON:
		fmt.Fprint(w, "upstream connect error")
	case AnotherShape:
		fmt.Fprint(w, `{"data":{"embedding":7},"results":7}`)
	default:
		return false
	}
	return true
}

func (f Fault) vector(v []float32) any {
	switch f {
	case WrongLength:
		return v[:len(v)-1]
	case NotANumber:
		return make([]any, len(v)) // each null
	case Zeros:
		clear(v)
	}
	return v
}

func (f Fault) rows(rows []map[string]any) []map[string]any {
	switch f {
	case Fewer:
		return rows[1:]
	case Repeated:
		rows[len(rows)-1] = rows[0]
	case OutOfRange:
		rows[0]["index"] = len(rows)
	}
	return rows
}
