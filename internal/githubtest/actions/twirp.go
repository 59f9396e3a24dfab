package actions

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// Short names of what every handler returns.
type (
	answer = fakehttp.Answer
	object = fakehttp.Object
)

// uploadLife is how long a signed address of the runtime protocol holds.
const uploadLife = time.Hour

// twirpError is the protocol's error document.
func twirpError(status int, code, message string) answer {
	return answer{Status: status, Value: object{"code": code, "msg": message}}
}

func invalid(message string) answer {
	return twirpError(http.StatusBadRequest, "invalid_argument", message)
}

func badRoute() answer {
	return twirpError(http.StatusNotFound, "bad_route", "no handler for this path and Content-Type")
}

// decode reads a request of the protocol, or refuses it.
func decode(r *http.Request, body []byte, q any) (a answer, refused bool) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return badRoute(), true
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return twirpError(http.StatusBadRequest, "malformed", "the json request could not be decoded: "+err.Error()),
			true
	}
	return answer{}, false
}
