package checkpoint

import (
	"fmt"

	"github.com/org/pr-review-action/internal/decision"
)

const recordEntry = "decision.json"

// PackRecord puts a decision record into the zip that is kept under
// DecisionArtifactName. Equal records give equal bytes.
func PackRecord(r decision.Record) ([]byte, error) {
	text, err := r.Encode()
	if err != nil {
		return nil, err
	}
	z, err := zipOf(entry{recordEntry, text})
	if err != nil {
		return nil, fmt.Errorf("packing decision record: %w", err)
	}
	return z, nil
}

// OpenRecord reads what PackRecord made, with the same limits as Open. Who
// made it is for the caller to know.
func OpenRecord(z []byte) (decision.Record, error) {
	contents, err := contentsOf(z, recordEntry)
	if err != nil {
		return decision.Record{}, fmt.Errorf("opening decision record: %w", err)
	}
	return decision.DecodeRecord(contents[0])
}
